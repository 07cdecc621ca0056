import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { RuntimeHandlerSchema } from '#protobuf/cri-runtime_pb.js'
import type { Pod } from '../pod-types.ts'
import { RuntimeHandlers } from './runtime-handlers.ts'

const podOf = (runtimeClassName?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {},
  spec: { containers: [], ...(runtimeClassName && { runtimeClassName }) },
})

/** The runtime has the default handler and `new`; each RuntimeClass is called like its handler. */
const handlers = (isOld = false) =>
  new RuntimeHandlers({
    client: { get: (async (_resource: unknown, _namespace: string, name: string) => ({ handler: name })) as never },
    reported: () =>
      isOld
        ? []
        : [
            create(RuntimeHandlerSchema, { name: '', features: { recursiveReadOnlyMounts: true } }),
            create(RuntimeHandlerSchema, { name: 'new', features: { userNamespaces: true } }),
            create(RuntimeHandlerSchema, { name: 'bare' }),
          ],
  })

test('features are those of the handler of the RuntimeClass', async () => {
  const all = handlers()
  assert.equal(await all.handlerOf(podOf()), '')
  assert.equal(await all.handlerOf(podOf('new')), 'new')
  await all.checkUserNamespaces(podOf('new'))
  assert.equal(await all.canMountRecursivelyReadOnly(podOf()), true)
  assert.equal(await all.canMountRecursivelyReadOnly(podOf('new')), false)
  assert.equal(await all.canMountRecursivelyReadOnly(podOf('bare')), false)
  assert.equal(await handlers(true).canMountRecursivelyReadOnly(podOf()), false)
})

const refused = (subject: string): string =>
  `can't set \`spec.hostUsers: false\`, ${subject} does not support user namespaces`

test("a handler that cannot map users is named in upstream's words", async () => {
  const rejects = (pod: Pod, message: string, isOld = false) =>
    assert.rejects(handlers(isOld).checkUserNamespaces(pod), { message })
  await rejects(podOf(), refused('runtime'))
  await rejects(podOf(), refused('runtime'), true)
  await rejects(podOf('bare'), refused('RuntimeClass handler "bare"'))
  await rejects(podOf('bare'), refused('RuntimeClass handler "bare"'), true)
  await rejects(podOf('lost'), `${refused('RuntimeClass handler "lost"')}: the handler "lost" is not known`)
})
