/**
 * A thread that reads a Deployment repeatedly and returns the times, so that other work of the benchmark does not delay
 * it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { connectTo, deployments } from '../../src/client/index.ts'

export interface GetTask {
  readonly kubeconfig: string
  readonly namespace: string
  readonly name: string
}

const pauseMs = 20

const { kubeconfig, namespace, name } = workerData as GetTask
const client = await connectTo({ kubeconfig })
const times: number[] = []
let isDone = false
parentPort!.once('message', () => {
  isDone = true
})
while (!isDone) {
  const began = performance.now()
  await client.get(deployments, namespace, name)
  times.push(performance.now() - began)
  await delay(pauseMs)
}
client.close()
parentPort!.postMessage(times)
