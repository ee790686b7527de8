/** Chance that a seed decides. */
export interface Random {
  /** A number from 0, below 1. */
  next(): number
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number
  /** A number from `least`, below `most`. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  /** @throws RangeError nothing to pick from */
  pick<Item>(items: readonly Item[]): Item
  /** The items in a random order. */
  shuffled<Item>(items: readonly Item[]): Item[]
  /** A stream of its own. Drawing from it does not change what other streams give. */
  stream(name: string): Random
}

/** The generator is sfc32, seeded by FNV-1a over seed and name: 128 bits of state, and the same on every machine. */
export function createRandom(seed: number, name = ''): Random {
  const text = `${seed}/${name}`
  let [a, b, c, d] = [hashOf(`a${text}`), hashOf(`b${text}`), hashOf(`c${text}`), 1]
  const next32 = () => {
    const sum = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return sum >>> 0
  }
  for (let round = 0; round < 12; round++) next32()
  const random: Random = {
    next: () => next32() / 2 ** 32,
    integer: (least, most) => least + Math.floor(random.next() * (most - least + 1)),
    between: (least, most) => least + random.next() * (most - least),
    chance: (probability) => random.next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('nothing to pick from')
      return items[random.integer(0, items.length - 1)] as (typeof items)[number]
    },
    shuffled: (items) => {
      const shuffled = [...items]
      for (let index = shuffled.length - 1; index > 0; index--) {
        const other = random.integer(0, index)
        const [one, two] = [shuffled[index], shuffled[other]]
        shuffled[index] = two as (typeof items)[number]
        shuffled[other] = one as (typeof items)[number]
      }
      return shuffled
    },
    stream: (other) => createRandom(seed, `${name}/${other}`),
  }
  return random
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash
}
