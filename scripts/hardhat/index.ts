import { task } from 'hardhat/config'
import { definePlugin } from 'hardhat/plugins'
import { ArgumentType } from 'hardhat/types/arguments'
import type { HardhatPlugin } from 'hardhat/types/plugins'
import { withPackages } from '../needed-packages.ts'

/** Loaded when a task is run, because it imports the whole server. */
const loadRelay = () => import('./relay.ts')

/**
 * The Hardhat 3 plugin `touchstone/hardhat`: the reference relay on the project's own network, and the suite against it.
 *
 * @example
 * import touchstone from 'touchstone/hardhat'
 * export default defineConfig({ plugins: [touchstone] })
 */
const touchstonePlugin: HardhatPlugin = definePlugin({
  id: 'touchstone',
  npmPackage: 'touchstone',
  tasks: [
    task('relay:check', 'Starts the relay on a network of the project and runs the conformance suite against it')
      .addOption({
        name: 'only',
        description: 'A clause id, or what it begins with',
        type: ArgumentType.STRING_WITHOUT_DEFAULT,
        defaultValue: undefined,
      })
      .addOption({
        name: 'report',
        description: 'Reports to write, e.g. html=report.html,markdown=report.md',
        type: ArgumentType.STRING_WITHOUT_DEFAULT,
        defaultValue: undefined,
      })
      .addOption({
        name: 'suite',
        description: 'Suites of your own, e.g. ./suite.js,touchstone-suite-acme',
        type: ArgumentType.STRING_WITHOUT_DEFAULT,
        defaultValue: undefined,
      })
      .setAction(async () => ({ default: (await withPackages('relay:check', ['server'], loadRelay)).relayCheck }))
      .build(),
    task('relay:up', 'Starts the relay on a network of the project, until Ctrl-C')
      .addOption({
        name: 'port',
        description: 'Where the relay listens; 0 for any free port',
        type: ArgumentType.INT,
        defaultValue: 3000,
      })
      .setAction(async () => ({ default: (await withPackages('relay:up', ['server'], loadRelay)).relayUp }))
      .build(),
  ],
})

export default touchstonePlugin
