/** A pod that writes numbered lines to both streams and exits with a code, and the check of both. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import { images } from '../../kubelet/support/runtimes/test-images.ts'

/** The number of a pod and what it does, by chance. */
export interface PodPlan {
  readonly name: string
  readonly lines: number
  readonly exitCode: number
  readonly logs: string
}

/** Lines are written in bursts; each tenth is on stderr, and one has no line break at once. */
const script = ({ lines, exitCode }: PodPlan): string => `
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

const retryMs = 30
const patienceMs = 300_000
const ended = 2
const killedCodes: readonly (number | undefined)[] = [137, 255]

/** Repeats a call while the runtime is away. Rejects with the last error after some minutes. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    try {
      return await call()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await delay(retryMs)
    }
  }
}

/** Runs a pod to its end and removes it. Resolves with the faults that it has found. */
export async function torturePod(client: CriRuntime, plan: PodPlan): Promise<string[]> {
  const config = {
    metadata: { name: plan.name, namespace: 'torture', uid: plan.name },
    hostname: plan.name,
    logDirectory: join(plan.logs, plan.name),
  }
  const sandbox = await patiently(async () => {
    await removeSandboxes(client, plan.name)
    return client.runSandbox(config)
  })
  const id = await patiently(async () => {
    for (const container of await client.containers({ podSandboxId: sandbox }))
      await client.removeContainer(container.id)
    const container = { metadata: { name: 'c' }, image: { image: images.busybox }, logPath: 'c.log' }
    return client.createContainer(sandbox, { ...container, command: ['sh', '-c', script(plan)] }, config)
  })
  await patiently(async () => {
    // A start whose answer was lost has happened.
    if ((await client.containerStatus(id))?.state === 0) await client.startContainer(id)
  })
  const faults = await follow(client, id, plan)
  faults.push(...linesFault(plan))
  await patiently(() => removeSandboxes(client, plan.name))
  return faults
}

/** Waits for the end of a container, with commands in it, and checks how it ends. */
async function follow(client: CriRuntime, id: string, { name, exitCode }: PodPlan): Promise<string[]> {
  const faults: string[] = []
  let startedAt: bigint | undefined
  for (;;) {
    const status = await patiently(() => client.containerStatus(id))
    if (!status) return [...faults, `${name}: the container has disappeared`]
    if (status.startedAt) {
      if (startedAt !== undefined && status.startedAt !== startedAt) faults.push(`${name}: started again`)
      startedAt = status.startedAt
    }
    if (status.state === ended) {
      if (status.exitCode !== exitCode)
        faults.push(`${name}: exit code ${status.exitCode} (${status.reason}) instead of ${exitCode}`)
      return faults
    }
    const result = await client.exec(id, ['sh', '-c', 'echo out; exit 3']).catch(() => undefined)
    const [output, code] = [Buffer.from(result?.stdout ?? '').toString(), result?.exitCode]
    // A container that ends kills its commands, and the executor may get no code of them.
    if (result && !(output === 'out\n' && code === 3) && !killedCodes.includes(code))
      faults.push(`${name}: a command has answered ${JSON.stringify(output)} and ${code}`)
    await delay(retryMs)
  }
}

/** The fault of a pod's log: each line must be there once, and in order. */
function linesFault({ name, lines, logs }: PodPlan): string[] {
  const text = readFileSync(join(logs, name, 'c.log'), 'utf8')
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

async function removeSandboxes(client: CriRuntime, name: string): Promise<void> {
  for (const { id, metadata } of await client.sandboxes())
    if (metadata?.name === name) {
      await client.stopSandbox(id)
      await client.removeSandbox(id)
    }
}
