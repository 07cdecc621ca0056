import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataFolders } from './user-folders.ts'

test('root has the folders of the machine, others and their namespaces those of the user', () => {
  assert.deepEqual(dataFolders({ env: {}, uid: 0 }), { data: '/var/lib/typernetes', runtime: '/run/typernetes' })
  const own = { data: '/home/jane/.local/share/typernetes', runtime: '/tmp/typernetes-1000/typernetes' }
  assert.deepEqual(dataFolders({ env: { HOME: '/home/jane' }, uid: 1000 }), own)
  const env = { HOME: '/home/jane', XDG_RUNTIME_DIR: '/run/user/1000', XDG_DATA_HOME: '/data', T8S_ROOTLESS: '/x' }
  assert.deepEqual(dataFolders({ env, uid: 0 }), { data: '/data/typernetes', runtime: '/run/user/1000/typernetes' })
})
