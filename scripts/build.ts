import { spawnSync } from 'node:child_process'
import { copyFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { contractNames, loadArtifact } from '../contracts/artifacts.ts'

/**
 * `npm run build`: what the published package holds, in `dist/`: JavaScript, types, and the JSON beside them. The
 * compiler copies the JSON, so the contracts are compiled first. Tests are not built.
 */
const root = new URL('../', import.meta.url)
const inRoot = (path: string) => fileURLToPath(new URL(path, root))
const projects = ['specs', 'server', 'conformance', 'contracts', 'scripts'].map(inRoot)

await Promise.all(contractNames.map(loadArtifact))
await rm(inRoot('dist'), { recursive: true, force: true })
const tsc = inRoot('node_modules/typescript-native/bin/tsc')
const { status } = spawnSync(process.execPath, [tsc, '-b', '--force', ...projects], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
await copyFile(inRoot('specs/openapi.yaml'), inRoot('dist/specs/openapi.yaml'))
