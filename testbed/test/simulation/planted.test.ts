import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { edited, plantedFaults } from '../../simulation/planted.ts'
import { seedsFrom, simulate } from '../../simulation/simulate.ts'

describe('the faults that are planted', () => {
  for (const { id, edits } of plantedFaults) {
    it(`${id} still has its place in the sources`, async () => {
      for (const edit of edits) {
        const source = await readFile(new URL(`../../../${edit.file}`, import.meta.url), 'utf8')
        expect(edited(source, edit)).to.not.equal(source)
      }
    })
  }

  it('are found, with a story that is short', async () => {
    let story: string | undefined
    await simulate({
      seeds: seedsFrom(1, 40),
      workers: 1,
      planted: 'broadcast-before-commit',
      isShrunk: true,
      onFound: (found) => {
        story ??= found.story
        return story !== undefined
      },
    })
    expect(story).to.include('BROKEN: ')
    expect(story?.split('\n').length).to.be.most(50)
  })
})
