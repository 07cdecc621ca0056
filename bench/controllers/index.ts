/**
 * `npm run bench -- --controllers`: the performance of all controllers with many objects. Each line runs on a server of
 * its own: `t8s up --nodes 0` with all controllers. Asserts nothing.
 */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { print } from '../report.ts'
import { type Bench, openBench } from './bench.ts'
import { benchDependents } from './dependents.ts'
import { benchDeployment } from './deployment.ts'
import { benchIdle } from './idle.ts'
import { benchNamespaces } from './namespaces.ts'
import { benchReadyPods, benchServices } from './services.ts'

/** A measurement. Smaller is better. */
export interface Measured {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Upper bound; undefined for additional information. */
  readonly target?: number
}

type Line = (bench: Bench) => Promise<readonly Measured[]>

const lines: Readonly<Record<string, Line>> = {
  deployment: benchDeployment,
  namespaces: benchNamespaces,
  background: (bench) => benchDependents(bench, 'Background'),
  foreground: (bench) => benchDependents(bench, 'Foreground'),
  services: benchServices,
  'ready-pods': benchReadyPods,
  idle: benchIdle,
}

export const allLines = Object.keys(lines)

/** Data directories are created in `directory`. Throws for an unknown line. */
export async function benchControllers(directory: string, tokenFile: string, chosen: readonly string[]): Promise<void> {
  const unknown = chosen.filter((name) => !lines[name])
  if (unknown.length > 0) throw new Error(`--lines ${unknown.join()}: choose of ${allLines.join(', ')}`)
  const rows: (readonly string[])[] = [['', 'value', 'target', 'ratio']]
  try {
    for (const name of chosen) {
      console.log(`measuring ${name}`)
      const bench = await openBench(mkdtempSync(join(directory, `${name}-`)), tokenFile)
      try {
        rows.push(...(await lines[name]!(bench)).map(row))
      } finally {
        await bench.close()
      }
    }
  } finally {
    print(rows)
  }
}

const number = (value: number): string =>
  value < 1 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : String(Math.round(value))

/** The ratio is the target divided by the value. */
const row = ({ name, value, unit, target }: Measured): readonly string[] => [
  name,
  `${number(value)} ${unit}`,
  target === undefined ? '' : `≤ ${target}`,
  target === undefined ? '' : `${(target / value).toFixed(2)}×${value <= target ? '' : ' MISSED'}`,
]
