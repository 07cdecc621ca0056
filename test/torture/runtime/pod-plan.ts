/** A pod that writes numbered lines to both streams and exits with a code, and the check of its log. */
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** The name of a pod and what it does, by chance. */
export interface PodPlan {
  readonly name: string
  readonly lines: number
  readonly exitCode: number
}

/** Lines are written in bursts; each tenth is on stderr, and one has no line break at once. */
export const scriptOf = ({ lines, exitCode }: PodPlan): string => `
i=0
while [ $i -lt ${lines} ]; do
  case $i in
    *9) echo "line $i" >&2 ;;
    *5) printf 'line '; sleep 0.03; echo $i ;;
    *) echo "line $i" ;;
  esac
  i=$((i + 1))
done
exit ${exitCode}`

export const retryMs = 30
const patienceMs = 300_000

/** Repeats a call while the tortured program is away. Rejects with the last error after some minutes. */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    try {
      return await call()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(retryMs)
    }
  }
}

/** The faults of a pod's log: each line must be there once, and in order. */
export function linesFault({ name, lines }: PodPlan, file: string): string[] {
  if (!existsSync(file)) return [`${name}: there is no log ${file}`]
  const text = readFileSync(file, 'utf8')
  const written: Record<string, string> = { stdout: '', stderr: '' }
  for (const line of text.split('\n').slice(0, -1)) {
    const [, stream = '', tag, rest = ''] = /^\S+ (stdout|stderr) ([FP]) (.*)$/.exec(line) ?? []
    if (!tag) return [`${name}: the log has the line ${JSON.stringify(line)}`]
    written[stream] += tag === 'F' ? `${rest}\n` : rest
  }
  const expected = { stdout: '', stderr: '' }
  for (let i = 0; i < lines; i++) expected[i % 10 === 9 ? 'stderr' : 'stdout'] += `line ${i}\n`
  return (['stdout', 'stderr'] as const).flatMap((stream) => {
    if (written[stream] === expected[stream]) return []
    const [got, wanted] = [written[stream]!.split('\n'), expected[stream].split('\n')]
    const at = wanted.findIndex((line, i) => line !== got[i])
    return [`${name}: ${stream} differs at line ${at}: ${JSON.stringify(got.slice(at, at + 3))}`]
  })
}
