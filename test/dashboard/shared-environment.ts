/** The vitest environment of tests that share an installation: it closes the one of a worker when its last file has ended. */
import type { Environment } from 'vitest/runtime'
import { shareInstallation } from './shared-installation.ts'

const environment: Environment = {
  name: 'shared-installation',
  viteEnvironment: 'ssr',
  setup() {
    const { close } = shareInstallation()
    return { teardown: close }
  },
}
export default environment
