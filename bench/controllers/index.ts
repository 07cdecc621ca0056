/**
 * `npm run bench -- --controllers`: what all controllers together do with many objects, each line on a server of its
 * own: `t8s up
 * --nodes 0` with all of them. Asserts nothing.
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

/** What was measured. Less is better. */
export interface Measured {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What it may be at most; nothing for what is told beside. */
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

/** Data directories are made in `directory`. Throws for a line that there is not. */
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

/** The ratio says how many times better than the target it is. */
const row = ({ name, value, unit, target }: Measured): readonly string[] => [
  name,
  `${number(value)} ${unit}`,
  target === undefined ? '' : `≤ ${target}`,
  target === undefined ? '' : `${(target / value).toFixed(2)}×${value <= target ? '' : ' MISSED'}`,
]
