import { expect } from 'chai'
import { currentRequirements, type RequirementSet, requirementSets } from '../../../specs/index.ts'
import { changesSince, hashOfSentence, loadSuites, ofRequirements, requirementsOf } from '../../lib/suites.ts'

describe('sets of requirements', () => {
  for (const [name, set] of Object.entries(requirementSets)) {
    it(`${name} is as it was frozen`, async () => {
      const changes = changesSince(set, requirementsOf(await loadSuites()), name === currentRequirements)
      expect(changes, 'a set never changes: npm run generate -- --requirements <year-month> begins a new one').to.be
        .empty
    })
  }

  it('say what has changed: a level, a sentence, a check, a required clause', () => {
    const set: RequirementSet = {
      'a.changed': { level: 'required', sentences: { documents: '1', lip: '2' }, checks: ['first', 'second'] },
      'a.gone': { level: 'recommended', sentences: { documents: '1' }, checks: [] },
    }
    const now: RequirementSet = {
      'a.changed': { level: 'recommended', sentences: { documents: '1', lip: '3' }, checks: ['first', 'third'] },
      'a.question': { level: 'unspecified', sentences: { documents: '1' }, checks: ['asks'] },
      'a.new': { level: 'required', sentences: { documents: '1' }, checks: ['first'] },
    }
    const frozen = [
      'a.changed was required and is recommended',
      'a.changed has another sentence (lip)',
      'a.changed has lost the check "second"',
      'a.gone is gone',
    ]
    expect(changesSince(set, now, false)).to.deep.equal(frozen)
    expect(changesSince(set, now, true)).to.deep.equal([...frozen, 'a.new is required, and new'])
  })

  it('tell sentences apart by their words', () => {
    const hash = hashOfSentence('The window is 5 seconds, at most.')
    expect(hashOfSentence('the window is 5 seconds at most')).to.equal(hash)
    for (const other of ['The window is 6 seconds, at most.', 'The window is at most 5 seconds.']) {
      expect(hashOfSentence(other), other).to.not.equal(hash)
    }
  })

  it('leave out what they do not name', async () => {
    const suites = await loadSuites()
    const [first] = suites
    if (!first) throw new Error('there are suites')
    const { checks } = first
    const extra = {
      ...first,
      checks: [...checks, { title: 'a check of a later version', needs: [], body: async () => {} }],
    }
    const [kept] = ofRequirements([extra], currentRequirements)
    expect(kept?.checks).to.deep.equal(checks)
    expect(ofRequirements([extra], undefined)).to.deep.equal([extra])
    expect(() => ofRequirements(suites, '1999-01')).to.throw(/no requirements 1999-01; there are 2026-11/)
    expect(() => ofRequirements(suites, 'constructor')).to.throw(/no requirements/)
  })
})
