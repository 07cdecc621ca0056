/** Allocates subranges of the cluster's address range to nodes (`spec.podCIDRs`). */
import { addressAt, type Cidr } from '../../../lib/cidr.ts'
import { RangeMetrics, type RangeUse } from './metrics.ts'

/** As upstream: maximum number of bits between the prefixes of the cluster and of a node. */
const maxBits = 16

export class NodeRanges implements RangeUse {
  readonly #cluster: Cidr
  readonly #prefix: number
  readonly #count: number
  readonly #metrics: RangeMetrics
  readonly #taken = new Set<number>()
  #next = 0

  /** `prefix` is the prefix length of a node. Throws a RangeError if it does not fit the cluster's range. */
  constructor(cluster: Cidr, prefix: number, metrics = new RangeMetrics()) {
    const bits = prefix - cluster.prefix
    if (bits < 0)
      throw new RangeError(
        `nodes cannot have ranges of /${prefix} in a range of /${cluster.prefix}: choose a longer mask for nodes`,
      )
    if (bits > maxBits)
      throw new RangeError(
        `/${prefix} is too small for /${cluster.prefix}: the masks may differ by at most ${maxBits} bits`,
      )
    if (prefix > widthOf(cluster)) throw new RangeError(`/${prefix} is longer than an address of IPv${cluster.family}`)
    this.#cluster = cluster
    this.#prefix = prefix
    this.#count = 2 ** bits
    this.#metrics = metrics
  }

  get family(): 4 | 6 {
    return this.#cluster.family
  }

  get range(): string {
    return `${addressAt(this.#cluster, 0)}/${this.#cluster.prefix}`
  }

  get capacity(): number {
    return this.#count
  }

  get taken(): number {
    return this.#taken.size
  }

  /** Marks all subranges that overlap a range as taken. */
  take(range: Cidr): void {
    for (const index of this.#within(range)) {
      if (this.#taken.has(index)) continue
      this.#taken.add(index)
      this.#metrics.countAllocation(this.range)
    }
  }

  release(range: Cidr): void {
    for (const index of this.#within(range)) if (this.#taken.delete(index)) this.#metrics.countRelease(this.range)
  }

  /** Takes the next free subrange after the last one. Undefined if all are taken. */
  takeNext(): string | undefined {
    for (let tried = 0; tried < this.#count; tried++) {
      const index = (this.#next + tried) % this.#count
      if (this.#taken.has(index)) continue
      this.#taken.add(index)
      this.#metrics.countAllocation(this.range, tried)
      this.#next = (index + 1) % this.#count
      const base = this.#cluster.base + BigInt(index) * this.#size
      return `${addressAt({ ...this.#cluster, base }, 0)}/${this.#prefix}`
    }
    return undefined
  }

  get #size(): bigint {
    return 1n << BigInt(widthOf(this.#cluster) - this.#prefix)
  }

  *#within(range: Cidr): Generator<number> {
    if (range.family !== this.#cluster.family) return
    const first = (range.base - this.#cluster.base) / this.#size
    const last = (range.base + (1n << BigInt(widthOf(range) - range.prefix)) - 1n - this.#cluster.base) / this.#size
    if (range.base + (1n << BigInt(widthOf(range) - range.prefix)) <= this.#cluster.base) return
    const from = first < 0n ? 0 : Number(first)
    for (let index = from; index < this.#count && BigInt(index) <= last; index++) yield index
  }
}

const widthOf = ({ family }: Pick<Cidr, 'family'>): number => (family === 4 ? 32 : 128)
