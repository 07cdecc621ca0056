/** Prints the table of a benchmark, with the numbers of kube-apiserver. */

import type { MeasuredPhase } from './load/run-load.ts'
import {
  cpuTargetRatio,
  idleMegabytes,
  loadedMegabytes,
  startMs,
  targetRatio,
  upstream,
  upstreamCpuMs,
  watchP99Ms,
} from './reference.ts'

export interface Measurements {
  /** Times from start to /readyz in ms. */
  readonly starts: readonly number[]
  /** Resident memory in MB. */
  readonly idle: number
  readonly loaded: number
  readonly phases: readonly MeasuredPhase[]
  /** GETs per second of a bare server, before and after. */
  readonly bare: readonly number[]
}

const number = (value: number): string =>
  value < 1 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : String(Math.round(value))
const times = (ratio: number): string => `${ratio.toFixed(2)}×`

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

export function report({ starts, idle, loaded, phases, bare }: Measurements): void {
  console.log(`bare http2 server: ${bare.map((rate) => Math.round(rate)).join(' before, ')} after, GETs per second`)
  // For times and memory less is better: the ratio is inverted.
  const less = (
    name: string,
    value: number,
    unit: string,
    reference: { upstream: number; target: number },
  ): string[] => [
    name,
    `${number(value)} ${unit}`,
    '',
    '',
    `≤ ${reference.target}`,
    String(reference.upstream),
    times(reference.upstream / value),
    '',
    '',
    '',
  ]
  print([
    [
      '',
      'value',
      'p50 ms',
      'p99 ms',
      'target',
      'upstream',
      'ratio',
      'CPU ms per request',
      'upstream',
      `ratio (≥ ${cpuTargetRatio})`,
    ],
    less(`start to /readyz (median of ${starts.length})`, median(starts), 'ms', startMs),
    less('resident memory, idle', idle, 'MB', idleMegabytes),
    less('resident memory, after the load', loaded, 'MB', loadedMegabytes),
    ...phases.map(phaseRow),
  ])
  for (const { kind, phase, failures, firstFailure } of phases)
    if (failures > 0) console.log(`${kind} ${phase}: ${failures} failed: ${firstFailure ?? ''}`)
}

function phaseRow({ kind, phase, rate, p50, p99, cpuMs }: MeasuredPhase): string[] {
  const reference = upstream[kind][phase]
  const referenceCpu = upstreamCpuMs[kind][phase]
  const isWatch = phase === 'watch'
  return [
    `${kind} ${phase}`,
    `${number(rate)} ${isWatch ? 'ev/s' : 'op/s'}`,
    number(p50),
    number(p99),
    reference ? `≥ ${number(reference * targetRatio)}${isWatch ? `, p99 ≤ ${watchP99Ms.target}` : ''}` : '',
    reference ? number(reference) : '',
    reference ? times(rate / reference) : '',
    cpuMs === undefined ? '' : number(cpuMs),
    referenceCpu ? number(referenceCpu) : '',
    referenceCpu && cpuMs ? times(referenceCpu / cpuMs) : '',
  ]
}

/** Prints a table with the first column left-aligned and the others right-aligned. */
export function print(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) {
    const cells = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
    console.log(cells.join('  ').trimEnd())
  }
}
