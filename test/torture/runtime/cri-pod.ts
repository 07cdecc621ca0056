/** A tortured pod of a runtime, by CRI. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import { images } from '../../kubelet/support/runtimes/test-images.ts'
import { linesFault, type PodPlan, patiently, retryMs, scriptOf } from './pod-plan.ts'

const ended = 2
const killedCodes: readonly (number | undefined)[] = [137, 255]

/** Runs a pod to its end and removes it. Resolves with the faults that it has found. */
export async function tortureCriPod(client: CriRuntime, plan: PodPlan, logs: string): Promise<string[]> {
  const config = {
    metadata: { name: plan.name, namespace: 'torture', uid: plan.name },
    hostname: plan.name,
    logDirectory: join(logs, plan.name),
  }
  const sandbox = await patiently(async () => {
    await removeSandboxes(client, plan.name)
    return client.runSandbox(config)
  })
  const id = await patiently(async () => {
    for (const container of await client.containers({ podSandboxId: sandbox }))
      await client.removeContainer(container.id)
    const container = { metadata: { name: 'c' }, image: { image: images.busybox }, logPath: 'c.log' }
    return client.createContainer(sandbox, { ...container, command: ['sh', '-c', scriptOf(plan)] }, config)
  })
  await patiently(async () => {
    // A start whose answer was lost has happened.
    if ((await client.containerStatus(id))?.state === 0) await client.startContainer(id)
  })
  const faults = await follow(client, id, plan)
  faults.push(...linesFault(plan, join(logs, plan.name, 'c.log')))
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

async function removeSandboxes(client: CriRuntime, name: string): Promise<void> {
  for (const { id, metadata } of await client.sandboxes())
    if (metadata?.name === name) {
      await client.stopSandbox(id)
      await client.removeSandbox(id)
    }
}
