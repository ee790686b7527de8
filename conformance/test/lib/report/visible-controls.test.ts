import { expect } from 'chai'
import { visibleControls } from '../../../lib/report/visible-controls.ts'

describe('visibleControls', () => {
  it('shows what a terminal would obey', () => {
    expect(visibleControls('a\u001b[2Jb\u0007\u009bc\rd')).to.equal('a\\u001b[2Jb\\u0007\\u009bc\\u000dd')
  })

  it('shows marks that reorder text', () => {
    expect(visibleControls('\u202egnp\u2066')).to.equal('\\u202egnp\\u2066')
  })

  it('keeps line breaks, tabs and other scripts', () => {
    expect(visibleControls('a\r\nb\tcé漢')).to.equal('a\nb\tcé漢')
  })
})
