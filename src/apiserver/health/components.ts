/**
 * The components that `componentstatuses` shows: the store, and controller manager and scheduler, in this process or on
 * their default ports.
 */
import { request } from 'node:https'
import { refuseUpgrade } from '../../lib/refuse-upgrade.ts'
import { connectionError } from '../outgoing/connection-error.ts'
import type { HealthCheck } from './health.ts'

const timeoutMs = 2000

/** Requests a component's health path on this machine, as upstream does. */
const probe = (name: string, port: number): HealthCheck => ({
  name,
  check: () =>
    new Promise((resolve) => {
      const url = `https://127.0.0.1:${port}/healthz`
      // Components sign their own certificates; nothing secret is sent.
      const probed = request(url, { rejectUnauthorized: false, timeout: timeoutMs }, (response) => {
        response.resume()
        resolve(response.statusCode === 200 ? undefined : `HTTP probe failed with statuscode: ${response.statusCode}`)
      })
      refuseUpgrade(probed).on('timeout', () => probed.destroy(new Error('timed out')))
      probed.on('error', (error) =>
        resolve(`Get ${JSON.stringify(url)}: ${connectionError(error, `127.0.0.1:${port}`)}`),
      )
      probed.end()
    }),
})

const defaultPorts = { scheduler: 10259, 'controller-manager': 10257 } as const

/** Checks of the components that run in this process. */
export type LocalComponents = Readonly<Partial<Record<keyof typeof defaultPorts, HealthCheck['check']>>>

export const componentProbes = (store: HealthCheck, local: LocalComponents = {}): readonly HealthCheck[] => [
  ...(['scheduler', 'controller-manager'] as const).map((name) => {
    const check = local[name]
    return check ? { name, check } : probe(name, defaultPorts[name])
  }),
  { ...store, name: 'etcd-0' },
]
