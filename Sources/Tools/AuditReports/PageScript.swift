/// The script of the page's filter. Without it the page shows everything.
enum PageScript {
    /// The SHA-256 of `text` in the form of a content security policy. A test computes it again.
    static let hash = "sha256-b5OEQfx8/uIbgehSr6x46+ZqcsgnA6Xws+it0OOdEzI="

    /// The script. It only reads the page's text and shows or hides elements; it creates nothing from strings.
    static let text = """
        'use strict';
        (() => {
          const byId = (id) => document.getElementById(id);
          const root = document.documentElement;
          const theme = byId('theme');
          const isDark = () => root.dataset.theme
            ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
          const name = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
          theme.hidden = false;
          theme.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; name(); });
          name();
          const folds = [...document.querySelectorAll('details')];
          addEventListener('beforeprint', () => folds.forEach((fold) => {
            fold.dataset.was = fold.open ? '1' : '';
            fold.open = true;
          }));
          addEventListener('afterprint', () => folds.forEach((fold) => { fold.open = fold.dataset.was === '1'; }));
          const filter = byId('filter');
          if (!filter) return;
          const search = byId('search');
          const boxes = [...filter.querySelectorAll('input[type=checkbox]')];
          const checks = [...document.querySelectorAll('.check')].map((node) => ({
            node,
            count: node.querySelector('.count'),
            fold: node.querySelector('details'),
            head: (node.querySelector('h3').textContent + ' ' + node.querySelector('.about').textContent).toLowerCase(),
            items: [...node.querySelectorAll('li')].map((item) => ({
              node: item, severity: item.dataset.s, count: Number(item.dataset.n),
              text: item.textContent.toLowerCase() })) }));
          const total = checks.reduce((sum, check) => check.items.reduce((all, item) => all + item.count, sum), 0);
          const apply = () => {
            const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
            const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
            let shown = 0;
            for (const check of checks) {
              let count = 0;
              for (const item of check.items) {
                const fits = wanted.has(item.severity)
                  && words.every((word) => item.text.includes(word) || check.head.includes(word));
                item.node.hidden = !fits;
                if (fits) count += item.count;
              }
              check.node.hidden = count === 0;
              check.count.textContent = count;
              if (check.fold && words.length) check.fold.open = true;
              shown += count;
            }
            byId('shown').textContent = shown === total ? total + ' findings' : shown + ' of ' + total;
          };
          filter.hidden = false;
          filter.addEventListener('input', apply);
          filter.addEventListener('submit', (event) => event.preventDefault());
          for (const link of document.querySelectorAll('a[data-path]')) {
            link.addEventListener('click', () => { search.value = link.dataset.path; apply(); });
          }
          apply();
        })();
        """
}
