import { LSP6DataKeys, PERMISSIONS } from '@lukso/lsp6-contracts'
import keyManagerArtifact from '@lukso/lsp6-contracts/artifacts/LSP6KeyManager.json' with { type: 'json' }
import keyManagerPackage from '@lukso/lsp6-contracts/package.json' with { type: 'json' }
import profileArtifact from '@lukso/universalprofile-contracts/artifacts/UniversalProfile.json' with { type: 'json' }
import profilePackage from '@lukso/universalprofile-contracts/package.json' with { type: 'json' }

interface PublishedPackage {
  readonly name: string
  readonly version: string
}

/**
 * What the testbed needs of LUKSO's published packages, by path. Copied, because who installs our package cannot
 * install theirs: a package far below them is fetched by git, unless the installing project itself overrides it.
 */
export function luksoFiles(): [path: string, text: string][] {
  return [
    ['contracts/generated/UniversalProfile.json', artifact(profilePackage, profileArtifact)],
    ['contracts/generated/LSP6KeyManager.json', artifact(keyManagerPackage, keyManagerArtifact)],
    [
      'contracts/generated/lsp6.json',
      json({ source: sourceOf(keyManagerPackage), permissions: PERMISSIONS, dataKeys: LSP6DataKeys }),
    ],
  ]
}

function artifact(source: PublishedPackage, { abi, bytecode }: { abi: readonly object[]; bytecode: string }): string {
  return json({ source: sourceOf(source), abi, bytecode })
}

const sourceOf = ({ name, version }: PublishedPackage) => `${name}@${version}`
const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`
