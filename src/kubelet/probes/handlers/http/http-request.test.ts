import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '../../../pod-types.ts'
import { containerPort } from '../port.ts'
import { type HttpGet, httpGetRequest, urlOf } from './http-request.ts'

const container = { name: 'web', ports: [{ name: 'http', containerPort: 8080, hostPort: 80 }] } as Container

const requestOf = (action: Partial<HttpGet>, agent: 'probe' | 'lifecycle' = 'probe') =>
  httpGetRequest({ port: 80, ...action } as HttpGet, container, '10.0.0.1', agent)

for (const [action, url] of [
  [{ path: '/healthz' }, 'http://10.0.0.1:80/healthz'],
  [{ path: 'healthz' }, 'http://10.0.0.1:80/healthz'],
  [{}, 'http://10.0.0.1:80/'],
  [{ path: '/a?b=c&d=%20e' }, 'http://10.0.0.1:80/a?b=c&d=%20e'],
  [{ path: '/ä b' }, 'http://10.0.0.1:80/%C3%A4%20b'],
  [{ path: '/100%?x' }, 'http://10.0.0.1:80/100%25%3Fx'],
  [{ path: '/a#b' }, 'http://10.0.0.1:80/a'],
  [{ path: '//other/x' }, 'http://10.0.0.1:80/x'],
  [{ path: '/', host: 'example.com', scheme: 'HTTPS', port: 'http' }, 'https://example.com:8080/'],
  [{ path: '/', host: 'fd00::1', port: '81' }, 'http://[fd00::1]:81/'],
] as const)
  test(`httpGet ${JSON.stringify(action)} requests ${url}`, () => {
    assert.equal(urlOf(requestOf(action)), url)
  })

for (const [title, httpHeaders, headers, hostHeader] of [
  ['none', [], ['User-Agent: kube-probe/1.36', 'Accept: */*'], '10.0.0.1:80'],
  [
    'own',
    [
      ['x-muFFins', 'a'],
      ['X-Muffins', 'b'],
      ['host', 'muffins.org'],
    ],
    ['User-Agent: kube-probe/1.36', 'Accept: */*', 'X-Muffins: a', 'X-Muffins: b'],
    'muffins.org',
  ],
  [
    'replaced defaults',
    [
      ['user-agent', 'mine'],
      ['accept', 'text/html'],
    ],
    ['User-Agent: mine', 'Accept: text/html'],
    '10.0.0.1:80',
  ],
  [
    'empty defaults',
    [
      ['User-Agent', ''],
      ['Accept', ''],
    ],
    [],
    '10.0.0.1:80',
  ],
  ['those of the connection', [['Content-Length', '7']], ['User-Agent: kube-probe/1.36', 'Accept: */*'], '10.0.0.1:80'],
] as const)
  test(`headers of httpGet: ${title}`, () => {
    const request = requestOf({ httpHeaders: httpHeaders.map(([name, value]) => ({ name, value })) })
    assert.deepEqual(
      request.headers.map(([name, value]) => `${name}: ${value}`),
      headers,
    )
    assert.equal(request.hostHeader, hostHeader)
  })

test('hooks have a user agent of their own', () => {
  assert.deepEqual(requestOf({}, 'lifecycle').headers[0], ['User-Agent', 'kube-lifecycle/1.36'])
})

for (const [port, result] of [
  [80, 80],
  ['http', 8080],
  ['90', 90],
  ['other', 'strconv.Atoi: parsing "other": invalid syntax'],
  [0, 'invalid port number: 0'],
  ['70000', 'invalid port number: 70000'],
] as const)
  test(`the port ${JSON.stringify(port)} of a container is ${result}`, () => {
    if (typeof result === 'number') assert.equal(containerPort(port, container), result)
    else assert.throws(() => containerPort(port, container), { message: result })
  })
