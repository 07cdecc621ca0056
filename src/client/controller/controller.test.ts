import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import type { ChangeHandler } from '../informers/informer.ts'
import type { SharedInformers } from '../informers/shared-informers.ts'
import { type Pod, pods } from '../kinds.ts'
import type { RestClient } from '../rest/rest-client.ts'
import { runController, watch } from './controller.ts'

const pod = (name: string): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'n', name } })

test('a delayed key is reconciled once for all changes during the delay', async () => {
  let notify: ChangeHandler<Pod> = () => {}
  const informers = {
    of: () => ({ onChange: (handler: ChangeHandler<Pod>) => (notify = handler) }),
    synced: async () => {},
  } as unknown as SharedInformers
  const reconciled: string[] = []
  const reconciles = new EventEmitter()
  const controller = {
    name: 'x',
    watches: [
      watch({
        resource: pods,
        keys: ({ metadata }) => [metadata.name === 'small' ? 'small' : 'large'],
        delayMs: (key) => (key === 'large' ? 50 : 0),
      }),
    ],
    async reconcile(key: string) {
      reconciled.push(key)
      reconciles.emit(key)
    },
  }
  const { synced, stop } = runController(controller, { informers, client: {} as RestClient }, () => {})
  await synced
  const large = once(reconciles, 'large')
  for (const name of ['a', 'b', 'small', 'c']) notify(pod(name), undefined)
  await large
  assert.deepEqual(reconciled, ['small', 'large'])
  await stop()
})
