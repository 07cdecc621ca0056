/** The phases of one panic, from its beginning to the end of the program (Go's specification, "Handling panics"). */
import type { Crash } from '../dump/crash.ts'
import type { Frame } from '../dump/frame.ts'
import type { Goroutine } from '../dump/goroutine.ts'

export interface Phase {
  readonly name: 'panic' | 'defers' | 'recover' | 'output' | 'exit'
  /** Sentences. */
  readonly text: string
}

/** The phases of a panic that ended its program, in their order; none for other crashes. */
export function phasesOf(crash: Crash, goroutine: Goroutine | undefined): readonly Phase[] {
  const { kind, panics, signal, goroutines, dropped } = crash
  if (kind !== 'panic' || panics.length === 0) return []
  const where = goroutine?.id === undefined ? 'the goroutine' : `goroutine ${goroutine.id}`
  return [
    { name: 'panic', text: begun(crash, where) },
    { name: 'defers', text: deferred(panics.length, goroutine?.frames ?? []) },
    { name: 'recover', text: recovered(crash) },
    { name: 'output', text: printed(panics.length, signal !== undefined, goroutines.length + dropped) },
    { name: 'exit', text: exit(crash) },
  ]
}

function begun({ panics: [first, ...others] }: Crash, where: string): string {
  const by = /^runtime error: /.test(first!.text)
    ? 'The runtime called panic, as it does for every runtime error'
    : 'The program called panic'
  const list = others.length === 0 ? 'This one is alone on it.' : `There are ${others.length + 1} on it.`
  return `${by}, and ${where} stopped where it was. Each goroutine keeps a list of its panics. ${list}`
}

const panicking = /^(panic|runtime\.gopanic)$/

/**
 * Deferred functions run on top of the function that panicked: the one that panicked again lies right above the older
 * panic.
 */
function deferred(panics: number, frames: readonly Frame[]): string {
  const isPanic = (frame: Frame | undefined): boolean => frame !== undefined && panicking.test(frame.function.full)
  const running = frames.flatMap((frame, at) =>
    isPanic(frames[at + 1]) && !isPanic(frame) ? [frame.function.full] : [],
  )
  const again = panics > 1 && running.length > 0 ? ` ${running.join(' and ')} panicked again while it ran.` : ''
  return `Its deferred functions ran, the newest first, on top of the stack that panicked.${again}`
}

function recovered({ panics }: Crash): string {
  const taken = panics.filter((panic) => panic.recovered).length
  if (taken === 0)
    return (
      'None of them recovered: recover() counts only where a deferred function of this goroutine calls it ' +
      'itself, while the panic is under way; in a function that it calls, or in another goroutine, it returns nil.'
    )
  const which =
    taken === panics.length
      ? 'each panic'
      : taken === 1
        ? 'one panic, which is marked [recovered]'
        : `${taken} panics, which are marked [recovered]`
  return `recover() took ${which}, and what came after it ended the program all the same.`
}

function printed(panics: number, hasSignal: boolean, goroutines: number): string {
  const parts = [
    panics > 1 ? 'the panics, the oldest first' : 'the panic',
    ...(hasSignal ? ['the signal'] : []),
    'the stack of the goroutine',
  ]
  const others = goroutines > 1 ? 'then the other goroutines.' : 'and no other one, unless GOTRACEBACK=all is set.'
  return `The runtime printed to stderr: ${parts.join(', ')}, ${others}`
}

function exit({ exitStatus }: Crash): string {
  const code = exitStatus ?? 2
  return (
    `The process ended with exit code ${code}${code === 2 ? '' : ', where Go itself gives 2'}. No other ` +
    'goroutine was asked, and none of their deferred functions ran.'
  )
}
