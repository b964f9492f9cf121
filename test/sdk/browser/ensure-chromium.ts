/**
 * A real Chromium for the tests: the one that CHROMIUM names, else the one on the PATH, else Debian's package. The headless
 * shell is preferred: it has no windows, which take most of the processor time of a whole Chromium.
 */
import { ensureCommand } from '../../support/ensure-command.ts'

const SHELL = 'chromium-headless-shell'

/** Resolves to the command's path. */
export const ensureChromium = async (): Promise<string> =>
  process.env['CHROMIUM'] ??
  (await ensureCommand([SHELL, 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'], SHELL))
