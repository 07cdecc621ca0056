/**
 * Starts of short commands, `./t8s explain-panic` and `./t8s config list`, alternating with `node -e 0`, the minimum of
 * a start. Since load on the machine distorts times, CPU time is shown too, with the ratio to bare Node.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { print } from '../report.ts'
import { launcher } from '../server/server.ts'

const targetMs = 120
/** Unit of times in /proc, in ms. */
const tickMs = 10

const crash = `panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.main()
	/src/main.go:7 +0x1d
exit status 2
`
const kubeconfig = `apiVersion: v1
kind: Config
current-context: dev
clusters: [{ name: dev, cluster: { server: https://127.0.0.1:6443 } }]
users: [{ name: dev, user: { token: secret } }]
contexts: [{ name: dev, context: { cluster: dev, user: dev } }]
`

/** Starts each command `n` times and prints a table. Files are written to `directory`. */
export function benchStarts(directory: string, n: number): void {
  const [log, config] = [join(directory, 'crash.log'), join(directory, 'kubeconfig')]
  writeFileSync(log, crash)
  writeFileSync(config, kubeconfig)
  const commands: readonly (readonly [string, ...string[]])[] = [
    [process.execPath, '-e', '0'],
    [launcher, 'explain-panic', log],
    [launcher, 'config', 'list', '--kubeconfig', config],
  ]
  const measured = commands.map((command) => ({ command, ms: [] as number[], cpuMs: 0 }))
  // The first start of each fills the compile cache.
  for (const { command } of measured) start(command)
  for (let i = 0; i < n; i++) {
    for (const one of measured) {
      const [began, cpu] = [performance.now(), childrenCpuMs()]
      start(one.command)
      one.ms.push(performance.now() - began)
      one.cpuMs += (childrenCpuMs() - cpu) / n
    }
  }
  const results = measured.map(({ command, ms, cpuMs }) => ({
    name: command.slice(1, 3).join(' '),
    median: quantile(ms, 0.5),
    min: quantile(ms, 0),
    cpuMs,
  }))
  const [bare] = results
  print([
    [
      `${n} starts`,
      'median ms',
      'min ms',
      'target',
      'ratio to bare',
      'difference ms',
      'CPU ms',
      'ratio to bare',
      'difference ms',
    ],
    ...results.map(({ name, median, min, cpuMs }) => [
      name.replace(directory, ''),
      median.toFixed(0),
      min.toFixed(0),
      `≤ ${targetMs}`,
      ...compared(median, bare!.median),
      cpuMs.toFixed(0),
      ...compared(cpuMs, bare!.cpuMs),
    ]),
  ])
}

const compared = (value: number, bare: number): string[] => [(value / bare).toFixed(2), (value - bare).toFixed(0)]

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0

function start([program, ...args]: readonly [string, ...string[]]): void {
  const { status, stderr } = spawnSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`)
}

/** CPU time of all child processes that have ended, in ms. */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * tickMs
}
