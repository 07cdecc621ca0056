import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeSpec } from './decode-spec.ts'

const spec = (fields: object = {}, edits: object = { env: ['A=1'] }): string =>
  JSON.stringify({
    cdiVersion: '1.1.0',
    kind: 'vendor.com/class',
    devices: [{ name: 'one', containerEdits: edits }],
    ...fields,
  })

test('a spec file in YAML has octal modes and comments', () => {
  const { devices, containerEdits } = decodeSpec(`
    # of a vendor
    cdiVersion: "v0.8.0"
    kind: vendor.com/class
    containerEdits:
      env: [SHARED=yes]
    devices:
    - name: "0"
      annotations: { model: x }
      containerEdits:
        additionalGids: [7]
        deviceNodes:
        - { path: /dev/one, hostPath: /dev/null, fileMode: 0640, uid: 3 }
        mounts:
        - { hostPath: /lib, containerPath: /vendor, options: [ro, rbind] }
        hooks:
        - { hookName: createContainer, path: /bin/hook, args: [hook, x], timeout: 5 }`)
  assert.deepEqual(containerEdits.env, ['SHARED=yes'])
  const [{ name, annotations, containerEdits: edits }] = devices as [(typeof devices)[0]]
  assert.deepEqual({ name, annotations: { ...annotations } }, { name: '0', annotations: { model: 'x' } })
  const node = { path: '/dev/one', hostPath: '/dev/null', type: '', major: 0, minor: 0, fileMode: 0o640 }
  assert.deepEqual(edits, {
    env: [],
    deviceNodes: [{ ...node, permissions: '', uid: 3, gid: undefined }],
    mounts: [{ hostPath: '/lib', containerPath: '/vendor', type: '', options: ['ro', 'rbind'] }],
    hooks: [{ hookName: 'createContainer', path: '/bin/hook', args: ['hook', 'x'], env: [], timeout: 5 }],
    additionalGids: [7],
    netDevices: [],
    intelRdt: undefined,
  })
})

const node = (fields: object): string => spec({}, { deviceNodes: [{ path: '/dev/x', ...fields }] })
const device = { name: 'one', containerEdits: { env: ['A=1'] } }

const invalid: readonly (readonly [title: string, document: string, message: RegExp])[] = [
  ['text that is not YAML', '{', /^YamlError: error converting YAML/],
  ['a document that is not an object', '[]', /^Error: the document is not an object$/],
  ['no document', '', /^Error: invalid version ""$/],
  ['a repeated key', 'kind: a.com/b\nkind: c.com/d', /key "kind" already set in map/],
  ['an unknown field', spec({ contents: 1 }), /^Error: unknown field "contents"$/],
  [
    'an unknown field of a node',
    node({ mode: 1 }),
    /unknown field "devices\[0\].containerEdits.deviceNodes\[0\].mode"/,
  ],
  ['a value of another type', spec({}, { env: 'A=1' }), /^Error: devices\[0\].containerEdits.env is not a list$/],
  ['a number out of range', spec({}, { additionalGids: [-1] }), /additionalGids\[0\] is not between 0 and 4294967295$/],
  ['an unknown version', spec({ cdiVersion: '2.0.0' }), /^Error: invalid version "2.0.0"$/],
  ['a kind without a class', spec({ kind: 'vendor.com' }), /^Error: invalid kind "vendor.com"/],
  ['no devices', spec({ devices: [] }), /^Error: invalid spec, no devices$/],
  ['a device twice', spec({ devices: [device, device] }), /^Error: invalid spec, multiple device "one"$/],
  ['a name of a device', spec({ devices: [{ ...device, name: 'a/b' }] }), /^Error: invalid device name "a\/b"$/],
  ['a device without edits', spec({}, {}), /^Error: invalid device "one", empty device edits$/],
  ['a variable without a value', spec({}, { env: ['A'] }), /^Error: invalid environment variable "A"$/],
  ['a node without a path', node({ path: '' }), /^Error: invalid \(empty\) device path$/],
  ['a type of a node', node({ type: 'd' }), /^Error: device "\/dev\/x": invalid type "d"$/],
  ['permissions of a node', node({ permissions: 'rx' }), /^Error: device "\/dev\/x": invalid permissions "rx"$/],
  [
    'a mount without a source',
    spec({}, { mounts: [{ containerPath: '/a' }] }),
    /^Error: invalid mount, empty host path/,
  ],
  ['an unknown hook', spec({}, { hooks: [{ hookName: 'stop', path: '/a' }] }), /^Error: invalid hook name "stop"$/],
]

for (const [title, document, message] of invalid)
  test(`a spec file is invalid with: ${title}`, () => assert.throws(() => decodeSpec(document), message))

const newer: readonly (readonly [version: string, since: string, document: object])[] = [
  ['0.3.0', '0.4.0', { containerEdits: { mounts: [{ hostPath: '/a', containerPath: '/b', type: 'bind' }] } }],
  ['0.4.0', '0.5.0', { devices: [{ ...device, name: '1' }] }],
  ['0.4.0', '0.5.0', { containerEdits: { deviceNodes: [{ path: '/dev/a', hostPath: '/dev/b' }] } }],
  ['0.5.0', '0.6.0', { kind: 'vendor.com/a.b' }],
  ['0.5.0', '0.6.0', { annotations: { a: 'b' } }],
  ['0.6.0', '0.7.0', { containerEdits: { additionalGids: [1] } }],
  ['1.0.0', '1.1.0', { containerEdits: { netDevices: [{ hostInterfaceName: 'a', name: 'b' }] } }],
  ['1.0.0', '1.1.0', { containerEdits: { intelRdt: { schemata: [] } } }],
]

for (const [version, since, fields] of newer)
  test(`a spec file of version ${version} cannot have ${JSON.stringify(fields)}`, () => {
    const message = new RegExp(`the spec version must be at least v${since}$`)
    assert.throws(() => decodeSpec(spec({ ...fields, cdiVersion: version })), message)
    decodeSpec(spec({ ...fields, cdiVersion: since }))
  })
