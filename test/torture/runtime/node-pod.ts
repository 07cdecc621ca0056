/** A tortured pod of a cluster, by its API and kubectl. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import { isNotFound } from '../../../src/client/rest/api-errors.ts'
import type { RestClient } from '../../../src/client/rest/rest-client.ts'
import { images } from '../../kubelet/support/runtimes/test-images.ts'
import { linesFault, type PodPlan, patiently, scriptOf } from './pod-plan.ts'

const namespace = 'default'
/** Between two looks at a pod, in ms. */
const pauseMs = 250

const podOf = (plan: PodPlan): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name: plan.name },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: images.busybox, command: ['sh', '-c', scriptOf(plan)] }],
  },
})

/** The files of the cluster: its kubeconfig, and the folder of the logs of pods. */
interface NodeFiles {
  readonly kubeconfig: string
  readonly logs: string
}

/** Runs a pod to its end and deletes it. Resolves with the faults that it has found. */
export async function torturePodOfNode(client: RestClient, files: NodeFiles, plan: PodPlan): Promise<string[]> {
  const { name } = plan
  const read = (): Promise<Pod | undefined> =>
    client.get(pods, namespace, name).catch((error) => {
      if (isNotFound(error)) return undefined
      throw error
    })
  // A creation whose answer was lost has happened.
  await patiently(async () => (await read()) ?? client.create(pods, podOf(plan)))
  const faults = await follow(read, files, plan)
  await patiently(async () => {
    if (await read()) await client.delete(pods, namespace, name)
  })
  while (await patiently(read)) await delay(pauseMs)
  return faults
}

/** Waits for the end of the pod, with a command in it, and checks how it ends and its log. */
async function follow(read: () => Promise<Pod | undefined>, files: NodeFiles, plan: PodPlan): Promise<string[]> {
  const { name, exitCode } = plan
  const faults: string[] = []
  let startedAt: string | undefined
  for (;;) {
    const pod = await patiently(read)
    if (!pod) return [...faults, `${name}: the pod has disappeared`]
    const [status] = pod.status?.containerStatuses ?? []
    const started = String(status?.state?.running?.startedAt ?? status?.state?.terminated?.startedAt ?? '')
    if (started && startedAt && started !== startedAt) faults.push(`${name}: started at ${startedAt} and ${started}`)
    startedAt ||= started
    const ended = status?.state?.terminated
    if (ended) {
      if (ended.exitCode !== exitCode)
        faults.push(`${name}: exit code ${ended.exitCode} (${ended.reason}) instead of ${exitCode}`)
      const logs = join(files.logs, `${namespace}_${name}_${pod.metadata.uid}`, 'c')
      // A kill may be between creation and start: as upstream's, the kubelet creates another container then.
      const attempt = status.restartCount
      for (let earlier = 0; earlier < attempt; earlier++)
        if (existsSync(join(logs, `${earlier}.log`))) faults.push(`${name}: container ${earlier} was started, too`)
      return [...faults, ...linesFault(plan, join(logs, `${attempt}.log`))]
    }
    if (started) faults.push(...(await commandFaults(files.kubeconfig, name)))
    await delay(pauseMs)
  }
}

/** A command that is answered has the right answer; others end with the pod or the server. */
const commandFaults = (kubeconfig: string, name: string): Promise<string[]> =>
  new Promise((resolve) => {
    const words = ['exec', name, '--', 'sh', '-c', 'echo out; exit 3']
    execFile('kubectl', ['--kubeconfig', kubeconfig, ...words], (error, stdout) => {
      const isWrong = error === null || (error.code === 3 && stdout !== 'out\n')
      resolve(isWrong ? [`${name}: a command has answered ${JSON.stringify(stdout)} and ${error?.code ?? 0}`] : [])
    })
  })
