import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import {
  callLife,
  callStateOf,
  isFinal,
  nextCallState,
  nextNonceState,
  nonceLife,
  statusOf,
} from '../../../services/ledger/lifecycle.ts'

const page = new URL('../../../../docs/simulation.md', import.meta.url)

/** A diagram in mermaid: an arrow for each pair of states, with all that takes the one to the other, and who may cause it. */
function diagramOf(life: readonly { from: string; event: string; to: string; by: string }[]): string {
  const name = (state: string) => state.replaceAll(' ', '_')
  const states = [...new Set(life.flatMap(({ from, to }) => [from, to]))]
  const arrows = Map.groupBy(life, ({ from, to }) => `${name(from)} --> ${name(to)}`)
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...states.filter((state) => state.includes(' ')).map((state) => `  ${name(state)}: ${state}`),
    ...[...arrows].map(
      ([arrow, all]) => `  ${arrow}: ${[...new Set(all.map(({ event, by }) => `${event} (${by})`))].join(', ')}`,
    ),
    '```',
  ].join('\n')
}

describe('the life of a relay call and of a nonce', () => {
  it('is drawn in the documentation as it is in the code', async () => {
    const text = await readFile(page, 'utf8')
    for (const life of [callLife, nonceLife]) expect(text).to.include(diagramOf(life))
  })

  for (const [what, life, first] of [
    ['call', callLife, 'unknown'],
    ['nonce', nonceLife, 'free'],
  ] as const) {
    it(`of a ${what} has one way on for each event, and every state can be reached`, () => {
      expect(new Set(life.map(({ from, event }) => `${from} ${event}`)).size).to.equal(life.length)
      const reached = new Set<string>([first])
      for (let before = 0; before < reached.size;) {
        before = reached.size
        for (const { from, to } of life) if (reached.has(from)) reached.add(to)
      }
      expect([...reached]).to.have.members([...new Set(life.flatMap(({ from, to }) => [from, to]))])
    })
  }

  it('lets nothing else happen', () => {
    expect(nextCallState('waiting', 'executed')).to.equal('succeeded')
    expect(() => nextCallState('succeeded for good', 'dropped')).to.throw(
      "what is 'succeeded for good' cannot be 'dropped'",
    )
    expect(() => nextCallState('given up for good', 'executed')).to.throw()
    expect(nextNonceState('carries a call', 'cancelled')).to.equal('carries nothing')
    expect(() => nextNonceState('carries nothing', 'replaced')).to.throw(
      "what is 'carries nothing' cannot be 'replaced'",
    )
  })

  it('is what the rows of the ledger say', () => {
    const rows = [
      [{ status: 'pending', mined_hash: null, final: false }, 'waiting'],
      [{ status: 'succeeded', mined_hash: '0x1', final: false }, 'succeeded'],
      [{ status: 'reverted', mined_hash: '0x1', final: true }, 'reverted for good'],
      [{ status: 'abandoned', mined_hash: '0x1', final: false }, 'used up'],
      [{ status: 'abandoned', mined_hash: null, final: false }, 'to be used up'],
      [{ status: 'abandoned', mined_hash: null, final: true }, 'given up for good'],
    ] as const
    for (const [row, state] of rows) {
      expect(callStateOf(row)).to.equal(state)
      expect({ status: statusOf(state), final: isFinal(state) }).to.deep.equal({ status: row.status, final: row.final })
    }
  })
})
