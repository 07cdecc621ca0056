/** Parses the race detector's output: two accesses to the same memory, and the creation of their goroutines. */
import type { Crash } from './crash.ts'
import type { Frame, FrameMaker } from './frame.ts'

export class RaceReader {
  readonly #make: FrameMaker
  #crash: Crash | undefined
  #frames: Frame[] | undefined
  #call = ''

  constructor(make: FrameMaker) {
    this.#make = make
  }

  begin(crash: Crash): void {
    this.#crash = crash
  }

  end(): void {
    this.#crash = undefined
    this.#frames = undefined
    this.#call = ''
  }

  /** Returns true for the line that ends the output. */
  line(text: string): boolean {
    if (/^=+$/.test(text)) {
      this.end()
      return true
    }
    const call = this.#call
    this.#call = ''
    const isTitle = / (by (main )?goroutine( \d+)?|created at):$/.test(text) && !text.startsWith(' ')
    if (isTitle) {
      this.#frames = []
      this.#crash?.race.push({ title: text.slice(0, -1), frames: this.#frames })
    } else if (call) {
      const frame = this.#make.frame(call, text)
      if (frame) this.#frames?.push(frame)
    } else if (text.startsWith('  ')) this.#call = text.trim()
    return false
  }
}
