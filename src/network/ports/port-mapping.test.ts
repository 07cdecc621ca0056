import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostText, mappingKey, mappingText, parseHostPort, parseMapping } from './port-mapping.ts'

test('a mapping has defaults for the address, the namespace and the protocol', () => {
  assert.deepEqual(parseMapping('8080:web:80'), {
    ...{ address: '127.0.0.1', hostPort: 8080, namespace: 'default', service: 'web', port: '80', protocol: 'TCP' },
  })
  assert.deepEqual(parseMapping('[::1]:53:kube-system/kube-dns:dns/udp'), {
    ...{ address: '::1', hostPort: 53, namespace: 'kube-system', service: 'kube-dns', port: 'dns', protocol: 'UDP' },
  })
})

test('the text of a mapping is complete, and parses to the same', () => {
  for (const [given, text, key] of [
    ['8080:web:80', '127.0.0.1:8080:default/web:80', '127.0.0.1.8080.tcp'],
    ['0.0.0.0:53:a/dns:53/udp', '0.0.0.0:53:a/dns:53/udp', '0.0.0.0.53.udp'],
    ['[fd00::1]:80:web:http/tcp', '[fd00::1]:80:default/web:http', 'fd00__1.80.tcp'],
  ] as const) {
    const mapping = parseMapping(given)!
    assert.equal(mappingText(mapping), text)
    assert.deepEqual(parseMapping(text), mapping)
    assert.equal(mappingKey(mapping), key)
    assert.match(key, /^[-._a-zA-Z0-9]+$/)
  }
})

test('other texts are no mappings', () => {
  for (const text of ['', '8080', '8080:80', '8080:web', '0:web:80', '65536:web:80', 'x:80:web:80', '8080:web:80/sctp'])
    assert.equal(parseMapping(text), undefined, text)
  for (const text of ['1.2.3:80:web:80', '999.0.0.1:80:web:80', '::1:80:web:80', '8080:Web:80', '8080:a/b/c:80'])
    assert.equal(parseMapping(text), undefined, text)
})

test('a port of the machine has the same forms without a Service', () => {
  assert.deepEqual(parseHostPort('8080'), { address: '127.0.0.1', hostPort: 8080, protocol: 'TCP' })
  assert.deepEqual(parseHostPort('[::]:53/udp'), { address: '::', hostPort: 53, protocol: 'UDP' })
  assert.equal(hostText({ address: '::', hostPort: 53 }), '[::]:53')
  assert.equal(parseHostPort('web'), undefined)
})
