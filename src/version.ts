import manifest from '../package.json' with { type: 'json' }

/** Version of this release, such as `1.2.3`. */
export const VERSION = manifest.version
