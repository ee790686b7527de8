import { expect } from 'chai'
import { installCommand } from '../../core/optional-package.ts'

describe('installCommand', () => {
  for (const [agent, command] of [
    ['npm/11.6.2 node/v24.21.0 linux x64 workspaces/false', 'npm install pg kysely@0.28.2'],
    ['pnpm/10.18.0 npm/? node/v24.21.0 linux x64', 'pnpm add pg kysely@0.28.2'],
    ['yarn/4.9.2 npm/? node/v24.21.0 linux x64', 'yarn add pg kysely@0.28.2'],
    ['bun/1.2.20 npm/? node/v24.3.0 linux x64', 'bun add pg kysely@0.28.2'],
    ['deno/2.5.0 npm/? deno/2.5.0 linux x86_64', 'npm install pg kysely@0.28.2'],
    [undefined, 'npm install pg kysely@0.28.2'],
  ] as const) {
    it(`is ${command.split(' pg')[0]} where ${agent ?? 'no package manager'} has started the process`, () => {
      const environment = agent === undefined ? {} : { npm_config_user_agent: agent }
      expect(installCommand(['pg', 'kysely@0.28.2'], environment)).to.equal(command)
    })
  }
})
