import { defineConfig } from 'vite'

/**
 * Libraries that every page needs, in one file. The file changes only with their versions, so browsers keep it across
 * releases.
 */
const VENDOR =
  /node_modules\/(preact|@tanstack\/(react-router|router-core|history|react-store|store|react-query|query-core)|openapi-fetch)\//

/**
 * What every page shows, with everything that it imports, in one file and one style sheet. A browser opens six
 * connections, and on a slow line each further file in the queue costs a round trip.
 */
const SHELL = /\/src\/(main\.tsx|texts\/plural\.ts)$/

/**
 * Parts that most pages share. The others come with the pages that use them: the plot with its library, code, editors.
 * Some tiny files of features come along, because the shell lists the files of each page.
 */
const PARTS =
  /\/src\/(parts\/(?!chart|draft|value\/code|form\/json-view)|format|features\/(rules\/(entry-of|join|say-warning)|analytics\/(format-|funnel\/name-of)|boards\/move-to))/

// Browsers of 2024, which support light-dark() natively.
const BROWSERS = ['chrome123', 'firefox120', 'safari17.5']

export default defineConfig({
  base: '/dashboard/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // Preact is 35 kB smaller than React. The pages and the libraries are written for React and import it by name.
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
    // The content security policy of the pages allows no inline script or style, and no data URL except for images.
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
            { name: 'drafts', test: /\/src\/parts\/draft\// },
            { name: 'contacts', test: /\/src\/features\/contacts\/(names|show-contact)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { '/dashboard/api': process.env['SLUICE_URL'] ?? 'http://127.0.0.1:8080' } },
})
