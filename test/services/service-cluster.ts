/** A cluster with a real node, and pods behind a Service, for tests of Services. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { images } from '../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running } from '../up/t8s-process.ts'

/** Runs kubectl, which must succeed; returns its output. */
export function run(cluster: Running, ...args: readonly string[]): string {
  const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}\n${cluster.output()}`)
  return stdout
}

/** A Deployment with two pods, which answer with their names, and its Service. */
export const web = (type: string, rest: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: {
              automountServiceAccountToken: false,
              terminationGracePeriodSeconds: 1,
              containers: [
                {
                  name: 'c',
                  image: images.busybox,
                  command: ['sh', '-c', 'mkdir /www; hostname >/www/index.html; exec httpd -f -p 8080 -h /www'],
                },
              ],
            },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web' },
        spec: { type, selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }], ...rest },
      },
    ],
  })

/** A pod to connect from. */
export const client = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'client' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: images.busybox, command: ['sleep', '1000'] }],
  },
}

/** A field of the Service `web`. */
export const serviceField = (cluster: Running, path: string): string =>
  run(cluster, 'get', 'service', 'web', '-o', `jsonpath={${path}}`)

/** The last line of a page that busybox's httpd serves to a process of the machine. */
export const fromHost = (address: string, port: string): string =>
  execFileSync('curl', ['-s', '-m', '3', `http://${address}:${port}/`], { encoding: 'utf8' }).trim()

/** The same for a process of a pod. */
export const fromPod = (cluster: Running, address: string, port: string): string =>
  run(cluster, 'exec', 'client', '--', 'sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${address} ${port}`)
    .trim()
    .split('\n')
    .at(-1) ?? ''

/** Waits until both pods have answered. */
export async function answersByBoth(title: string, request: () => string): Promise<void> {
  const seen = new Set<string>()
  await waitFor(title, () => {
    try {
      seen.add(request())
    } catch (error) {
      if (!(error instanceof Error)) throw error
    }
    return seen.size === 2
  })
  for (const name of seen) assert.match(name, /^web-/)
}
