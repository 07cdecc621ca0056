/**
 * The components that `componentstatuses` shows: the store, and controller manager and scheduler, in this process or on
 * their usual ports.
 */
import { request } from 'node:https'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import { connectionError } from '../outgoing/connection-error.ts'
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
      refuseUpgrade(asked).on('timeout', () => asked.destroy(new Error('timed out')))
      asked.on('error', (error) =>
        resolve(`Get ${JSON.stringify(url)}: ${connectionError(error, `127.0.0.1:${port}`)}`),
      )
      asked.end()
    }),
})

const usualPorts = { scheduler: 10259, 'controller-manager': 10257 } as const

/** Checks of the components that run in this process. */
export type LocalComponents = Readonly<Partial<Record<keyof typeof usualPorts, HealthCheck['check']>>>

export const componentProbes = (store: HealthCheck, local: LocalComponents = {}): readonly HealthCheck[] => [
  ...(['scheduler', 'controller-manager'] as const).map((name) => {
    const check = local[name]
    return check ? { name, check } : probe(name, usualPorts[name])
  }),
  { ...store, name: 'etcd-0' },
]
