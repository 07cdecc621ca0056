/** `t8s config list` and `show`. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Home, without } from './home.ts'

test('list and show print servers and expiry of contexts', { skip: without('openssl') }, async (t) => {
  const home = new Home(t)
  const certificate = (days: string): string => {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-keyout',
        home.path('key'),
        '-out',
        home.path('crt'),
        '-days',
        days,
        '-subj',
        '/CN=me',
      ],
      { stdio: 'ignore' },
    )
    return home.read('crt')
  }
  const token = `e30.${Buffer.from(JSON.stringify({ exp: 1_000_000_000 })).toString('base64url')}.x`
  const authority = Buffer.from(certificate('500')).toString('base64')
  home.write('.kube/pki/me.crt', certificate('400'))
  home.write(
    '.kube/config',
    `clusters: [{name: k, cluster: {server: "https://k:6443", certificate-authority-data: ${authority}}}]
users:
- {name: file, user: {client-certificate: pki/me.crt, client-key: pki/me.key}}
- {name: token, user: {token: ${token}}}
- {name: program, user: {exec: {command: get-token, apiVersion: client.authentication.k8s.io/v1}}}
contexts:
- {name: a, context: {cluster: k, user: file}}
- {name: b, context: {cluster: k, user: token}}
- {name: c, context: {cluster: k, user: program}}
- {name: d, context: {cluster: gone, user: nobody}}
current-context: b
`,
  )
  const lines = (await home.ok(['list'])).split('\n')
  assert.match(lines[0]!, /^CURRENT +NAME +CLUSTER +USER +NAMESPACE +SERVER +EXPIRES$/)
  assert.match(lines[1]!, /^ +a +k +file +https:\/\/k:6443 +in 399 days \(certificate\)$/)
  assert.match(lines[2]!, /^\* +b +k +token +https:\/\/k:6443 +expired \d+ years ago \(token\)$/)
  assert.match(lines[3]!, /in 499 days \(authority\)$/)
  assert.match(lines[4]!, /there is no cluster "gone"$/)
  const json = JSON.parse(await home.ok(['list', '-o', 'json']))
  assert.deepEqual(json[1].expires.token, '2001-09-09T01:46:40Z')
  assert.deepEqual(
    json.map(({ credentials }: { credentials: string }) => credentials),
    ['certificate', 'token', 'program get-token', 'none'],
  )
  assert.deepEqual(parse(await home.ok(['list', '-o', 'yaml'])), json)
  assert.equal(await home.ok(['list', '-o', 'name']), 'a\nb\nc\nd\n')
  const shown = await home.ok(['show', 'a'])
  assert.match(shown, /^Certificate until: {2}20\d\d-.*Z \(in 399 days\)$/m)
  assert.doesNotMatch(await home.ok(['show', 'b', '-o', 'yaml']), new RegExp(token))
  rmSync(home.path('.kube/pki'), { recursive: true })
  assert.match(await home.ok(['show', 'a']), /^Problem: +cannot read .*me\.crt: no such file or directory$/m)
})
