/** The phases of a panic, from the call to the end of the program (Go's specification, "Handling panics"). */
import type { Crash } from '../dump/crash.ts'
import type { Frame } from '../dump/frame.ts'
import type { Goroutine } from '../dump/goroutine.ts'

export interface Phase {
  readonly name: 'panic' | 'defers' | 'recover' | 'output' | 'exit'
  /** One or more sentences. */
  readonly text: string
}

/** Returns the phases, in order, of a panic that ended its program; none for other crashes. */
export function phasesOf(crash: Crash, goroutine: Goroutine | undefined): readonly Phase[] {
  const { kind, panics, signal, goroutines, dropped } = crash
  if (kind !== 'panic' || panics.length === 0) return []
  const where = goroutine?.id === undefined ? 'the goroutine' : `goroutine ${goroutine.id}`
  return [
    { name: 'panic', text: panicText(crash, where) },
    { name: 'defers', text: deferText(panics.length, goroutine?.frames ?? []) },
    { name: 'recover', text: recoverText(crash) },
    { name: 'output', text: outputText(panics.length, signal !== undefined, goroutines.length + dropped) },
    { name: 'exit', text: exitText(crash) },
  ]
}

function panicText({ panics: [first, ...others] }: Crash, where: string): string {
  const by = /^runtime error: /.test(first!.text)
    ? 'The runtime called panic, as it does for every runtime error'
    : 'The program called panic'
  const list = others.length === 0 ? 'It has this one.' : `It has ${others.length + 1}.`
  return `${by}, and ${where} stopped there. Each goroutine has a list of its panics. ${list}`
}

const panicking = /^(panic|runtime\.gopanic)$/

/**
 * Deferred functions run on top of the function that panicked: one that panicked itself is directly above the older
 * panic.
 */
function deferText(panics: number, frames: readonly Frame[]): string {
  const isPanic = (frame: Frame | undefined): boolean => frame !== undefined && panicking.test(frame.function.full)
  const running = frames.flatMap((frame, at) =>
    isPanic(frames[at + 1]) && !isPanic(frame) ? [frame.function.full] : [],
  )
  const panickedDefers = panics > 1 && running.length > 0 ? ` During this, ${running.join(' and ')} panicked.` : ''
  return `Its deferred functions ran, newest first, on top of the stack of the panic.${panickedDefers}`
}

function recoverText({ panics }: Crash): string {
  const count = panics.filter((panic) => panic.recovered).length
  if (count === 0)
    return (
      'None of them recovered: recover() has an effect only if a deferred function of this goroutine calls it ' +
      'directly, during the panic; in a nested function, or in another goroutine, it returns nil.'
    )
  const which =
    count === panics.length
      ? 'each panic'
      : count === 1
        ? 'one panic, marked [recovered]'
        : `${count} panics, marked [recovered]`
  return `recover() stopped ${which}, but a later failure ended the program.`
}

function outputText(panics: number, hasSignal: boolean, goroutines: number): string {
  const parts = [
    panics > 1 ? 'the panics, oldest first' : 'the panic',
    ...(hasSignal ? ['the signal'] : []),
    'the stack of the goroutine',
  ]
  const others =
    goroutines > 1 ? 'then the other goroutines.' : 'and no other goroutine, unless GOTRACEBACK=all is set.'
  return `The runtime printed to stderr: ${parts.join(', ')}, ${others}`
}

function exitText({ exitStatus }: Crash): string {
  const code = exitStatus ?? 2
  return (
    `The process ended with exit code ${code}${code === 2 ? '' : ', although Go itself uses 2'}. No other ` +
    'goroutine was notified, and none of their deferred functions ran.'
  )
}
