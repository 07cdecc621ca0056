/** Formats crash reports for a terminal: the cause first, then the location, then the other goroutines. */
import type { CrashReport } from '../../../tools/panics/report.ts'
import { argumentsText } from './arguments.ts'
import type { Colours } from './colours.ts'
import { goroutineTitle, groupsText } from './goroutines.ts'
import { frameText, stackText } from './stack.ts'

export interface TextOptions {
  readonly colours: Colours
  /** Omits nothing. */
  readonly all: boolean
}

/** Crashes that are shown without --all. */
const maxReports = 5
const order: readonly CrashReport['source'][] = [
  'panic',
  'fatal error',
  'signal',
  'data race',
  'logged panic',
  'goroutines',
  'logged error',
]

export function reportsText(reports: readonly CrashReport[], options: TextOptions): string {
  // Crashes that ended the program come before those that it survived.
  const sorted = reports.toSorted(
    (a, b) =>
      Number(wasSurvived(a)) - Number(wasSurvived(b)) ||
      (wasSurvived(a) ? order.indexOf(a.source) - order.indexOf(b.source) : 0),
  )
  const shown = options.all ? sorted : sorted.slice(0, maxReports)
  const texts = shown.map((report, index) => {
    const place =
      reports.length > 1 ? [options.colours.faint(`── ${index + 1} of ${reports.length}, line ${report.line}`)] : []
    return [...place, ...reportLines(report, options)].join('\n')
  })
  const hidden = reports.length - shown.length
  if (hidden > 0)
    texts.push(options.colours.faint(`${hidden} more ${hidden === 1 ? 'is' : 'are'} hidden: --all shows all`))
  return `${texts.join('\n\n')}\n`
}

const wasSurvived = ({ source }: CrashReport): boolean => order.indexOf(source) >= order.indexOf('logged panic')

function reportLines(report: CrashReport, options: TextOptions): string[] {
  const { colours } = options
  const { message, explanation, advice, chain, times, goroutine, runtimeStack, race, ownFrame, failedFrame, excerpt } =
    report
  const lines = [...message.split('\n').map((line) => colours.title(line)), '', `  ${explanation}`]
  if (chain) lines.push(`  ${chain}`)
  lines.push(`  ${colours.strong('Next:')} ${advice}`, '')
  if (times > 1) lines.push(field('seen', `${times} times`))
  lines.push(...facts(report))
  if (goroutine) {
    lines.push(field('goroutine', goroutineTitle(goroutine)))
    if (goroutine.createdBy) {
      const { function: by, file, line, goroutine: id } = goroutine.createdBy
      lines.push(
        field('created by', `${by}${id === undefined ? '' : ` in goroutine ${id}`}`),
        field('', colours.faint(`${file}:${line}`)),
      )
    }
    const own = ownFrame === undefined ? undefined : goroutine.frames[ownFrame]
    const failed = failedFrame === undefined ? undefined : goroutine.frames[failedFrame]
    if (own) {
      lines.push(
        field(
          report.kind === 'deadlock' ? 'waits in' : own === failed ? 'failed in' : 'called from',
          colours.strong(frameText(own)),
        ),
        field('', `${own.file}:${own.line}`),
      )
      if (report.sourcesMissing) lines.push(field('sources', report.sourcesMissing))
      if (excerpt)
        lines.push('', ...excerpt.map(({ number, text }) => sourceLine(number, text, number === own.line, colours)))
    }
  }
  for (const one of report.arguments) lines.push('', ...argumentsText(one, colours))
  if (goroutine && goroutine.frames.length > 0)
    lines.push(
      '',
      `  ${colours.strong('Stack')}`,
      ...stackText(goroutine, { ...options, failed: failedFrame, own: ownFrame }),
      ...report.stackNotes.map((note) => colours.faint(`    ${note}`)),
    )
  if (report.phases.length > 0)
    lines.push(
      '',
      `  ${colours.strong('Phases of the panic')}`,
      ...report.phases.map(({ name, text }) => `    ${name.padEnd(8)} ${text}`),
    )
  if (runtimeStack?.length)
    lines.push(
      '',
      `  ${colours.strong('Stack of the thread, in the runtime')}`,
      ...stackText({ frames: runtimeStack }, options),
    )
  for (const { title, frames } of race) lines.push('', `  ${colours.strong(title)}`, ...stackText({ frames }, options))
  lines.push(...groupsText(report, options))
  return lines
}

/** Facts that the runtime printed in addition to the panic. */
function facts({ panics, signal, notes, exitStatus, registers }: CrashReport): string[] {
  const lines: string[] = []
  if (panics.length > 1 || panics.some(({ recovered }) => recovered)) {
    for (const [index, { text, recovered, repanicked }] of panics.entries()) {
      const [first = ''] = text.split('\n')
      lines.push(
        field(
          index === 0 ? 'panics' : '',
          `${index + 1}. ${first}${repanicked ? ' (recovered, and panicked again)' : recovered ? ' (recovered)' : ''}`,
        ),
      )
    }
  }
  if (signal) {
    const { text, code, codeName, codeMeaning, address, pc, duringCgo } = signal
    const parts = [
      text,
      code === undefined
        ? ''
        : `code ${code}${codeName ? ` (${codeName})` : ''}${codeMeaning ? `: ${codeMeaning}` : ''}`,
      address ? `address ${address}` : '',
      pc ? `at instruction ${pc}` : '',
      duringCgo ? 'in C code' : '',
    ]
    lines.push(field('signal', parts.filter(Boolean).join(', ')))
  }
  for (const [index, note] of notes.entries())
    lines.push(field(index === 0 ? 'runtime' : '', note.replace(/^runtime: /, '')))
  const count = Object.keys(registers).length
  if (count > 0) lines.push(field('registers', `${count} in the output: -o json shows them`))
  if (exitStatus !== undefined) lines.push(field('exit status', `${exitStatus}`))
  return lines
}

const field = (name: string, text: string): string => `  ${name.padEnd(12)} ${text}`

const sourceLine = (number: number, text: string, isFailing: boolean, { strong, faint }: Colours): string =>
  isFailing
    ? strong(`  → ${`${number}`.padStart(5)} │ ${text.replaceAll('\t', '    ')}`)
    : faint(`    ${`${number}`.padStart(5)} │ ${text.replaceAll('\t', '    ')}`)
