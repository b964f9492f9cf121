/**
 * A real Chromium for the tests: the one that CHROMIUM names, otherwise the one in the PATH, otherwise Debian's
 * package.
 */
import { ensureCommand } from '../../support/ensure-command.ts'

const SHELL = 'chromium-headless-shell'

/** Resolves with the path of the command. */
export const ensureChromium = async (): Promise<string> =>
  process.env['CHROMIUM'] ??
  (await ensureCommand(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'], 'chromium'))

/**
 * Resolves with the same engine without windows, which take most of Chromium's CPU time; if it is not installed, with
 * the whole Chromium.
 */
export const ensureHeadlessShell = async (): Promise<string> =>
  process.env['CHROMIUM'] ?? (await ensureCommand([SHELL], SHELL).catch(ensureChromium))
