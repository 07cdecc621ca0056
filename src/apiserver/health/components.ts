/** The components that `componentstatuses` shows: the store, and controller manager and scheduler on their usual ports. */
import { request } from 'node:https'
import type { HealthCheck } from './health.ts'

const timeoutMs = 2000

/** Asks a component's health path on this machine, as upstream does. */
const probe = (name: string, port: number): HealthCheck => ({
  name,
  check: () =>
    new Promise((resolve) => {
      const url = `https://127.0.0.1:${port}/healthz`
      // Components sign their own certificates; nothing secret is sent.
      const asked = request(url, { rejectUnauthorized: false, timeout: timeoutMs }, (response) => {
        response.resume()
        resolve(response.statusCode === 200 ? undefined : `HTTP probe failed with statuscode: ${response.statusCode}`)
      })
      asked.on('timeout', () => asked.destroy(new Error('timed out')))
      asked.on('error', (error) => resolve(`Get ${JSON.stringify(url)}: ${error.message}`))
      asked.end()
    }),
})

export const componentProbes = (store: HealthCheck): readonly HealthCheck[] => [
  probe('scheduler', 10259),
  probe('controller-manager', 10257),
  { ...store, name: 'etcd-0' },
]
