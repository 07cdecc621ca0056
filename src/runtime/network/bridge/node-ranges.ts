/** The node's ranges of pod addresses, in a file: the kubelet sends them once, and runtimes restart. */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { addressRange } from '../../../network/ipam/address-range.ts'

interface Ranges {
  readonly current: readonly string[]
  /** Those of pods that were connected before the ranges changed. */
  readonly former: readonly string[]
}

/** The file of a runtime with this folder of records. */
export const nodeRangesFile = (root: string): string => join(root, 'network', 'ranges.json')

export class NodeRanges {
  readonly #file: string
  #ranges: Ranges

  constructor(file: string) {
    this.#file = file
    this.#ranges = read(file)
  }

  get current(): readonly string[] {
    return this.#ranges.current
  }

  get former(): readonly string[] {
    return this.#ranges.former
  }

  /** Replaces the ranges. Pods that are connected keep their addresses. */
  set(ranges: readonly string[]): void {
    if (ranges.join() === this.current.join()) return
    const former = [...new Set([...this.former, ...this.current])].filter((range) => !ranges.includes(range))
    this.#save({ current: ranges, former })
  }

  /** Forgets the former ranges, as no pod is connected. */
  forgetFormer(): void {
    if (this.former.length > 0) this.#save({ current: this.current, former: [] })
  }

  #save(ranges: Ranges): void {
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o711 })
    writeFileAtomically(this.#file, JSON.stringify(ranges), 0o644)
    this.#ranges = ranges
  }
}

function read(file: string): Ranges {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ranges
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: [], former: [] }
    throw error
  }
}

/**
 * The ranges of a text such as `10.244.1.0/24` or `10.244.1.0/24,fd00:1::/64`.
 * @throws for a text that has others, or two of one family.
 */
export function parseRanges(text: string): string[] {
  const ranges = text.split(',').map((range) => range.trim())
  const families = ranges.map((subnet) => addressRange({ subnet }).subnet.family)
  if (new Set(families).size < families.length)
    throw new Error(`the ranges of pods ${JSON.stringify(text)} must be one of IPv4, one of IPv6, or both`)
  return ranges
}
