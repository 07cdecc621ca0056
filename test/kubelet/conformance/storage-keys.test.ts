/**
 * Tests of the conformance suite for volumes with the keys of configMaps and secrets, alone and projected
 * (`test/e2e/common/storage/{configmap_volume,secrets_volume,projected_*}.go`), on a real node.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configMaps, namespaces, pods } from '../../../src/client/kinds.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { base64, type KeyFamily, keyFamilies } from '../support/key-volumes.ts'
import { type NewPod, TestNode } from '../support/test-node.ts'

/** The titles are upstream's `testname`, in the order of `keyFamilies`; '' if upstream has none. */
const titles = {
  default: [
    'ConfigMap Volume, without mapping',
    'Projected Volume, ConfigMap, volume mode default',
    'Secrets Volume, default',
    'Projected Volume, Secrets, volume mode default',
  ],
  nonRoot: ['ConfigMap Volume, without mapping, non-root user', 'Projected Volume, ConfigMap, non-root user', '', ''],
  mode: [
    'ConfigMap Volume, without mapping, volume mode set',
    'Projected Volume, ConfigMap, volume mode 0400',
    'Secrets Volume, volume mode 0400',
    'Projected Volume, Secrets, volume mode 0400',
  ],
  group: [
    '',
    '',
    'Secrets Volume, volume mode 0440, fsGroup 1001 and uid 1000',
    'Project Volume, Secrets, non-root, custom fsGroup',
  ],
  mapped: [
    'ConfigMap Volume, with mapping',
    'Projected Volume, ConfigMap, mapped',
    'Secrets Volume, mapping',
    'Projected Volume, Secrets, mapped',
  ],
  mappedMode: [
    'ConfigMap Volume, with mapping, volume mode set',
    'Projected Volume, ConfigMap, mapped, volume mode 0400',
    'Secrets Volume, mapping, volume mode 0400',
    'Projected Volume, Secrets, mapped, volume mode 0400',
  ],
  mappedNonRoot: [
    'ConfigMap Volume, with mapping, non-root user',
    'Projected Volume, ConfigMap, mapped, non-root user',
    '',
    '',
  ],
  twice: [
    'ConfigMap Volume, multiple volume maps',
    'Projected Volume, ConfigMap, multiple volume paths',
    'Secrets Volume, mapping multiple volume paths',
    'Projected Volume, Secrets, mapped, multiple paths',
  ],
  update: ['ConfigMap Volume, update', 'Projected Volume, ConfigMap, update', '', ''],
  optional: [
    'ConfigMap Volume, create, update and delete',
    'Projected Volume, ConfigMap, create, update and delete',
    'Secrets Volume, create, update and delete',
    'Projected Volume, Secrets, create, update delete',
  ],
  immutable: ['ConfigMap Volume, immutability', '', 'Secrets Volume, immutability', ''],
} as const satisfies Record<string, readonly string[]>

const at = '/etc/volume'
const mount = { name: 'v', mountPath: at, readOnly: true }
const data = { 'data-1': 'value-1', 'data-2': 'value-2', 'data-3': 'value-3' }
const mapped = [{ key: 'data-2', path: 'path/to/data-2' }]

/** A pod that prints mode, owner and content of one file. */
interface FileCase {
  readonly name: keyof typeof titles
  readonly settings?: Parameters<KeyFamily['volume']>[2]
  readonly file?: string
  readonly securityContext?: NewPod['securityContext']
  readonly mode: string
}

const user = { runAsUser: 1000 }
const file = 'path/to/data-2'

const fileCases: readonly FileCase[] = [
  { name: 'default', mode: '644 0' },
  { name: 'nonRoot', securityContext: user, mode: '644 0' },
  { name: 'mode', settings: { defaultMode: 0o400 }, mode: '400 0' },
  { name: 'group', settings: { defaultMode: 0o440 }, securityContext: { ...user, fsGroup: 1001 }, mode: '440 1001' },
  { name: 'mapped', settings: { items: mapped }, file, mode: '644 0' },
  { name: 'mappedMode', settings: { items: [{ ...mapped[0]!, mode: 0o400 }] }, file, mode: '400 0' },
  { name: 'mappedNonRoot', settings: { items: mapped }, file, securityContext: user, mode: '644 0' },
]

await inNamespaces(import.meta.filename, () =>
  describe('keys', { concurrency: 6 }, () => {
    const started = TestNode.start()
    for (const [index, family] of keyFamilies.entries()) familyTests(family, index, started)

    test('ConfigMap Volume, text data, binary data', async () => {
      const node = await started
      const binaryData = { 'dump.bin': base64(Buffer.from([0xde, 0xca, 0xfe, 0xba, 0xd0, 0xfe, 0xff])) }
      await node.client.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name: 'binary' },
        data: { 'data-1': 'value-1' },
        binaryData,
      })
      const pod = await node.create({
        name: 'binary',
        volumes: [{ name: 'v', configMap: { name: 'binary' } }],
        script: `cat ${at}/data-1; echo; hexdump -e '1/1 "%02x"' ${at}/dump.bin`,
        container: { volumeMounts: [{ name: 'v', mountPath: at }] },
      })
      assert.equal(await node.ended(pod), 'value-1\ndecafebad0feff')
    })

    test('Secrets Volume, volume mode default, secret with same name in different namespace', async () => {
      const node = await started
      await node.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
      const [, , family] = keyFamilies
      await family!.create(node.client, 'same-name', { 'data-1': 'value-1' })
      await family!.create(node.client, 'same-name', { this_should_not_match_content_of_other_secret: 'x' }, 'other')
      const pod = await node.create({
        name: 'same-name',
        volumes: [family!.volume('v', 'same-name')],
        script: `ls ${at}; cat ${at}/data-1; stat -L -c ' %a' ${at}/data-1`,
        container: { volumeMounts: [{ name: 'v', mountPath: at, readOnly: true }] },
      })
      assert.equal(await node.ended(pod), 'data-1\nvalue-1 644')
    })

    test('Projected Volume, multiple projections', async () => {
      const node = await started
      const [config, , secret] = keyFamilies
      await config!.create(node.client, 'all-config', { 'configmap-data': 'configmap-value-1' })
      await secret!.create(node.client, 'all-secret', { 'secret-data': 'secret-value-1' })
      const sources = [
        { secret: { name: 'all-secret', items: [{ key: 'secret-data', path: 'secret-data' }] } },
        { configMap: { name: 'all-config', items: [{ key: 'configmap-data', path: 'cm-data' }] } },
        { downwardAPI: { items: [{ path: 'podname', fieldRef: { fieldPath: 'metadata.name' } }] } },
      ]
      const pod = await node.create({
        name: 'projected-all',
        volumes: [{ name: 'v', projected: { sources } }],
        script: `cd ${at}; for f in podname secret-data cm-data; do cat $f; echo; done`,
        container: { volumeMounts: [{ name: 'v', mountPath: at }] },
      })
      assert.equal(await node.ended(pod), 'projected-all\nsecret-value-1\nconfigmap-value-1')
    })
  }),
)

function familyTests(family: KeyFamily, index: number, started: Promise<TestNode>): void {
  const define: Define = (name, run) => {
    const title = titles[name][index] ?? ''
    if (title) test(title, async () => run(await started, `${name.toLowerCase()}-${index}`))
  }
  fileTests(family, define)
  changeTests(family, define)
}

type Define = (name: keyof typeof titles, run: (node: TestNode, unique: string) => Promise<void>) => void

function fileTests(family: KeyFamily, define: Define): void {
  for (const { name, settings, file = 'data-1', securityContext, mode } of fileCases)
    define(name, async (node, unique) => {
      await family.create(node.client, unique, data)
      const pod = await node.create({
        name: unique,
        securityContext,
        volumes: [family.volume('v', unique, settings)],
        script: `stat -L -c '%a %g' ${at}/${file}; cat ${at}/${file}`,
        container: { volumeMounts: [mount] },
      })
      assert.equal(await node.ended(pod), `${mode}\n${file.endsWith('2') ? 'value-2' : 'value-1'}`)
    })

  define('twice', async (node, unique) => {
    await family.create(node.client, unique, data)
    const pod = await node.create({
      name: unique,
      volumes: [family.volume('v', unique), family.volume('w', unique)],
      script: `cat ${at}/data-1 ${at}-2/data-1`,
      container: { volumeMounts: [mount, { ...mount, name: 'w', mountPath: `${at}-2` }] },
    })
    assert.equal(await node.ended(pod), 'value-1value-1')
  })
}

function changeTests(family: KeyFamily, define: Define): void {
  define('update', async (node, unique) => {
    await family.create(node.client, unique, { 'data-1': 'value-1' })
    const pod = await node.create({
      name: unique,
      volumes: [family.volume('v', unique)],
      script: `while true; do cat ${at}/data-1; echo; grep -q value-2 ${at}/data-1 && exit; sleep 0.2; done`,
      container: { volumeMounts: [mount] },
    })
    await node.outputWith(pod, 'value-1')
    await family.replace(node.client, unique, { 'data-1': 'value-2' })
    assert.match(await endedAfterSync(node, unique), /^(value-1\n)+value-2$/)
  })

  define('optional', async (node, unique) => {
    await family.create(node.client, `${unique}-upd`, { 'data-1': 'value-1' })
    await family.create(node.client, `${unique}-del`, { 'data-1': 'value-1' })
    const changes = ['create', 'upd', 'del']
    const pod = await node.create({
      name: unique,
      volumes: changes.map((change) => family.volume(change, `${unique}-${change}`, { optional: true })),
      script: `cd ${at}; show() { for f in */data-*; do echo -n "$f $(cat $f) "; done; echo; }
show; until test -e create/data-1 -a -e upd/data-3 -a ! -L upd/data-1 -a ! -L del/data-1; do sleep 0.2; done; show`,
      container: { volumeMounts: changes.map((name) => ({ name, mountPath: `${at}/${name}`, readOnly: true })) },
    })
    const before = 'del/data-1 value-1 upd/data-1 value-1'
    await node.outputWith(pod, before)
    await family.delete(node.client, `${unique}-del`)
    await family.replace(node.client, `${unique}-upd`, { 'data-3': 'value-3' })
    await family.create(node.client, `${unique}-create`, { 'data-1': 'value-1' })
    const output = await endedAfterSync(node, unique)
    assert.equal(output.replaceAll(' \n', '\n').trim(), `${before}\ncreate/data-1 value-1 upd/data-3 value-3`)
  })

  define('immutable', async ({ client }, unique) => {
    await family.create(client, unique, data)
    await family.replace(client, unique, { 'data-1': 'changed' })
    await family.merge(client, unique, { immutable: true })
    await assert.rejects(family.replace(client, unique, { 'data-1': 'again' }), /field is immutable when `immutable`/)
    await assert.rejects(family.merge(client, unique, { immutable: false }), /field is immutable when `immutable`/)
    await family.merge(client, unique, { metadata: { labels: { label1: 'value1' } } })
    await family.delete(client, unique)
  })
}

/** A change of the pod makes the kubelet read its objects now instead of within a minute. */
async function endedAfterSync(node: TestNode, name: string): Promise<string> {
  return node.ended(await node.client.patch(pods, 'default', name, { metadata: { labels: { changed: 'true' } } }))
}
