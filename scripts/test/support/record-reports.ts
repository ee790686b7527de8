// Records the runs that `conformance/test/rejudge.test.ts` judges again, into `conformance/test/reports/`:
//
//   node scripts/test/support/record-reports.ts
//
// Run it when a check asks something new, since the stored runs then lack its answer.
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { loadLawful, loadMutants } from '../../../conformance/altered/load.ts'
import { serveAlteration } from '../../../conformance/altered/serve.ts'
import { check } from '../../../conformance/index.ts'
import { renderJson } from '../../../conformance/lib/report/files.ts'
import { startTestbed } from '../../../testbed/testbed.ts'

/** What is stored of the reference relay. The pages of logs, nine tenths of a whole report, are left out. */
const most = 'relay,eth-rpc.batch,eth-rpc.clients,eth-rpc.envelope,eth-rpc.eth_chainId,eth-rpc.eth_getBalance'

/** A mutant and a lawful stranger, and what is stored of each. */
const altered: Readonly<Record<string, string>> = {
  'relay.quota.unit': 'relay.quota',
  'sends-refused-calls-and-pays-for-the-revert': 'relay.execute',
}

const folder = new URL('../../../conformance/test/reports/', import.meta.url)
const testbed = await startTestbed()
const { relayUrl: serverUrl, fixture } = testbed

async function record(name: string, relayUrl: string, only: string): Promise<void> {
  const report = await check({ relayUrl, fixture, only, record: true, receiptTimeoutMs: 3000 })
  const packed = gzipSync(renderJson(report))
  await writeFile(new URL(`${name}.json.gz`, folder), packed)
  process.stdout.write(`${name}: ${report.verdict}, ${packed.length} bytes\n`)
}

try {
  await record('reference', serverUrl, most)
  const alterations = [
    ...(await loadMutants()).map(({ name, mutant }) => ({ name, alteration: mutant })),
    ...(await loadLawful()).map(({ name, lawful }) => ({ name, alteration: lawful })),
  ]
  for (const { name, alteration } of alterations) {
    const only = altered[name]
    if (only === undefined) continue
    const throwIt = (error: unknown): never => {
      throw error
    }
    const served = await serveAlteration(alteration, { serverUrl, fixture }, throwIt)
    try {
      await record(name, served.url, only)
    } finally {
      await served.close()
    }
  }
} finally {
  await testbed.close()
}
