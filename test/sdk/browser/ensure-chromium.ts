/** A real Chromium for the tests: the one that CHROMIUM names, else the one on the PATH, else Debian's package. */
import { ensureCommand } from '../../support/ensure-command.ts'

const SHELL = 'chromium-headless-shell'

/** Resolves to the command's path. */
export const ensureChromium = async (): Promise<string> =>
  process.env['CHROMIUM'] ??
  (await ensureCommand(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'], 'chromium'))

/** The same engine without windows, which take most of a Chromium's processor time; where there is none, the whole one. */
export const ensureHeadlessShell = async (): Promise<string> =>
  process.env['CHROMIUM'] ?? (await ensureCommand([SHELL], SHELL).catch(ensureChromium))
