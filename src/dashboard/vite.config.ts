import { defineConfig } from 'vite'

/** What every page needs, in one file: it changes with its versions alone, so that browsers keep it over our releases. */
const VENDOR =
  /node_modules\/(preact|@tanstack\/(react-router|router-core|history|react-store|store|react-query|query-core)|openapi-fetch)\//

/**
 * What every page shows, with all that it imports, in one file and one style sheet: a browser has six connections, and on a slow
 * line each file more in a queue costs a round trip.
 */
const SHELL = /\/src\/main\.tsx$/

/** What most pages share beside it. The plot and its library are for pages with charts. */
const PARTS = /\/src\/(parts\/(?!plot|chart|code)|format)/

// Since 2024: light-dark() as it is.
const BROWSERS = ['chrome123', 'firefox120', 'safari17.5']

export default defineConfig({
  base: '/dashboard/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Preact is 35 kB smaller than React. The pages and the libraries are written for React, and import it by its name.
  resolve: {
    alias: [
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react(-dom)?$/, replacement: 'preact/compat' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
    ],
  },
  build: {
    outDir: 'built',
    target: BROWSERS,
    cssTarget: BROWSERS,
    // The policy of the pages allows no inline script, style or data other than images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'vendor', test: VENDOR, priority: 2 },
            { name: 'shell', test: SHELL, priority: 1 },
            { name: 'shared', test: PARTS },
          ],
        },
      },
    },
  },
  server: { proxy: { '/dashboard/api': process.env['SLUICE_URL'] ?? 'http://127.0.0.1:8080' } },
})
