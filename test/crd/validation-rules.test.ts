/** Validation rules of custom resources, through kubectl: what people see of them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { certificates, gateways } from './ruled-definitions.ts'

const program = installedKubectls().at(-1)!

const object = (kind: string, name: string, spec: object): string =>
  JSON.stringify({ apiVersion: 'ruled.example.com/v1', kind, metadata: { name }, spec })
const gateway = (spec: object): string => object('Gateway', 'g', { listeners: [http], ...spec })
const certificate = (spec: object): string =>
  object('Certificate', 'c', { issuer: { name: 'ca' }, names: ['a.example.com'], ...spec })
const http = { name: 'http', port: 80, protocol: 'HTTP' }

describe('validation rules', () => {
  test(`kubectl ${program.version}: invalid objects and updates fail with the message of their rule`, async (t) => {
    const cluster = await testCluster(t)
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    for (const definition of [gateways, certificates])
      await kubectl.ok('create -f -', /created/, { input: JSON.stringify(definition) })
    await kubectl.ok(
      'wait --for=condition=Established crd/gateways.ruled.example.com crd/certificates.ruled.example.com ' +
        '--timeout=30s',
    )

    const refused = async (input: string, expected: RegExp) =>
      void (await kubectl.fails('create --dry-run=server -f -', expected, { input }))
    const taken = async (input: string) => void (await kubectl.ok('create --dry-run=server -f -', /created/, { input }))
    const tls = { name: 'tls', port: 443, protocol: 'HTTPS', tls: { certificates: ['a'] } }
    await Promise.all([
      taken(
        gateway({
          listeners: [http, tls],
          addresses: [{ value: '10.0.0.1' }, { type: 'Hostname', value: 'a.example.com' }],
        }),
      ),
      refused(
        gateway({ listeners: [{ ...http, tls: { certificates: ['a'] } }] }),
        new RegExp(
          String.raw`^The Gateway "g" is invalid: spec\.listeners: Invalid ` +
            String.raw`value: tls must not be given for protocols without it\n$`,
        ),
      ),
      refused(
        gateway({ listeners: [{ ...tls, tls: {} }] }),
        new RegExp(
          String.raw`spec\.listeners\[0\]\.tls: Invalid value: "object": no such ` +
            'key: certificates evaluating rule: certificates must be given',
        ),
      ),
      refused(
        gateway({ listeners: [http, { ...http, name: 'other' }] }),
        /port, protocol and hostname together must be unique/,
      ),
      refused(
        gateway({ addresses: [{ value: '10.0.0.256' }] }),
        /spec\.addresses\[0\]: Invalid value: value must be an address/,
      ),
      refused(
        gateway({ addresses: [{ value: '::1' }, { value: '::1' }] }),
        /spec\.addresses: Invalid value: addresses must be unique/,
      ),
      refused(
        gateway({ timeouts: { request: '1s', backend: '2s' } }),
        /spec\.timeouts: Invalid value: backend must not be longer than request/,
      ),
      refused(
        gateway({ timeouts: { request: '1s', backend: 'soon' } }),
        /spec\.timeouts: Invalid value: "object": .*soon.* evaluating rule: backend must not be longer/,
      ),
      taken(certificate({ duration: '2160h', renewBefore: '360h', key: { algorithm: 'ECDSA', size: 256 } })),
      refused(
        certificate({ duration: '1h', renewBefore: '2h' }),
        /spec\.renewBefore: Invalid value: must be shorter than duration/,
      ),
      refused(
        certificate({ key: { size: 1024 } }),
        /spec\.key\.size: Invalid value: keys of RSA have 2048 bits or more/,
      ),
      refused(
        certificate({ key: { algorithm: 'Ed25519', size: 256 } }),
        /spec\.key\.size: Forbidden: Ed25519 has no sizes/,
      ),
      refused(certificate({ names: ['*.com'] }), /spec\.names: Invalid value: no wildcard for a top-level domain/),
      refused(certificate({ keystores: { jks: true } }), /spec: Invalid value: keystores come later/),
    ])

    await kubectl.ok('create -f -', /created/, { input: certificate({ duration: '2160h' }) })
    const patch = (spec: object): string => `patch certificate c --type=merge -p '${JSON.stringify({ spec })}'`
    await kubectl.fails(patch({ issuer: { name: 'other' } }), /spec\.issuer: Invalid value: the issuer never changes/)
    await kubectl.fails(
      patch({ keystores: { jks: true, pkcs12: true } }),
      /spec\.keystores: Invalid value: exactly one of jks and pkcs12 must be given/,
    )
    await kubectl.ok(patch({ keystores: { pkcs12: true } }), /patched/)
    const status = (revision: number): string =>
      `patch certificate c --subresource=status --type=merge -p '${JSON.stringify({ status: { revision } })}'`
    await kubectl.ok(status(2), /patched/)
    await kubectl.fails(status(1), /status\.revision: Invalid value: 1: revisions grow/)
  })

  test('values that were there before a rule are let through until they change', async (t) => {
    const cluster = await testCluster(t)
    const kubectl = new Kubectl(program, cluster.kubeconfigFile, cluster.folder)
    const strict = structuredClone(certificates) as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: { key: object } } } } } }[] }
    }
    const { properties } = strict.spec.versions[0]!.schema.openAPIV3Schema.properties.spec
    const lenient = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const { key } = properties
    properties.key = lenient
    await kubectl.ok('create -f -', /created/, { input: JSON.stringify(strict) })
    await kubectl.ok('wait --for=condition=Established crd/certificates.ruled.example.com --timeout=30s')
    await kubectl.ok('create -f -', /created/, { input: certificate({ key: { algorithm: 'RSA', size: 512 } }) })
    properties.key = key
    await kubectl.ok('replace -f -', /replaced/, { input: JSON.stringify(strict) })
    const change = (size: number): string =>
      `patch certificate c --dry-run=server --type=merge -p '{"spec":{"key":{"size":${size}}}}'`
    // The server applies a changed definition a moment later.
    await waitFor('the new rules', async () => (await kubectl.run(change(1024))).code !== 0)
    const { stderr } = await kubectl.run('annotate certificate c note=changed')
    assert.match(stderr, /^Warning: spec\.key\.size: Invalid value: keys of RSA have 2048 bits or more\n$/)
    await kubectl.fails(change(1024), /keys of RSA have 2048 bits or more/)
    await kubectl.ok(change(4096), /patched/)
  })
})
