/** Writes a program of the kernel's classic BPF, which decides on system calls. */

/** Operations of BPF. */
const operations = {
  load: 0x20,
  and: 0x54,
  jump: 0x05,
  equal: 0x15,
  greater: 0x25,
  notLess: 0x35,
  return: 0x06,
} as const

type Comparison = 'equal' | 'greater' | 'notLess'

interface Instruction {
  readonly code: number
  readonly value: number
  /** Labels of the next instructions; undefined for the following one. */
  readonly whenTrue?: string | undefined
  readonly whenFalse?: string | undefined
}

const instructionBytes = 8
const maxInstructions = 4096
const maxOffset = 255

export class FilterWriter {
  readonly #instructions: Instruction[] = []
  readonly #labels = new Map<string, number>()

  /** Loads 32 bits of the call's description into the accumulator. */
  load(offset: number): void {
    this.#instructions.push({ code: operations.load, value: offset })
  }

  and(mask: number): void {
    this.#instructions.push({ code: operations.and, value: mask })
  }

  return(result: number): void {
    this.#instructions.push({ code: operations.return, value: result })
  }

  jump(label: string): void {
    this.#instructions.push({ code: operations.jump, value: 0, whenTrue: label })
  }

  /** Compares the accumulator with a value. */
  compare(comparison: Comparison, value: number, whenTrue: string | undefined, whenFalse: string | undefined): void {
    this.#instructions.push({ code: operations[comparison], value, whenTrue, whenFalse })
  }

  /** The next instruction has this label. */
  label(name: string): void {
    this.#labels.set(name, this.#instructions.length)
  }

  /** The instructions. Throws an Error if the kernel would not take so many. */
  write(): Buffer {
    const { length } = this.#instructions
    if (length > maxInstructions) throw new Error(`the seccomp profile needs ${length} instructions of BPF, not 4096`)
    const bytes = Buffer.alloc(length * instructionBytes)
    this.#instructions.forEach(({ code, value, whenTrue, whenFalse }, index) => {
      const at = index * instructionBytes
      bytes.writeUInt16LE(code, at)
      const isJump = code === operations.jump
      bytes.writeUInt8(isJump ? 0 : this.#offset(index, whenTrue), at + 2)
      bytes.writeUInt8(this.#offset(index, whenFalse), at + 3)
      bytes.writeUInt32LE(isJump ? this.#distance(index, whenTrue) : value, at + 4)
    })
    return bytes
  }

  #distance(index: number, label: string | undefined): number {
    if (label === undefined) return 0
    const target = this.#labels.get(label)
    if (target === undefined) throw new Error(`no instruction has the label ${label}`)
    return target - index - 1
  }

  #offset(index: number, label: string | undefined): number {
    const distance = this.#distance(index, label)
    if (distance > maxOffset) throw new Error('a rule of the seccomp profile has too many conditions')
    return distance
  }
}
