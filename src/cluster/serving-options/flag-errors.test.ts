import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiServerFlags } from '../../apiserver/serving-flags/index.ts'
import { checkServingFlags } from './index.ts'

test("errors for invalid values are upstream's", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['--service-account-issuer=', 'service-account-issuer should not be an empty string'],
    ['--service-account-issuer=a --service-account-issuer=a', 'service-account-issuer "a" is already specified'],
    [
      '--service-account-issuer=https://h:p',
      'service-account-issuer "https://h:p" contained a \':\' but was not a valid URL: parse "https://h:p": ' +
        'invalid port ":p" after host',
    ],
    ['--service-account-jwks-uri=http://x', 'service-account-jwks-uri requires https scheme, parsed as: http://x'],
    [
      '--service-account-jwks-uri=https://host:port',
      'service-account-jwks-uri must be a valid URL: parse "https://host:port": invalid port ":port" after host',
    ],
    [
      '--service-cluster-ip-range=10.0.0.0/24,fd00::/126',
      'error determining service IP ranges for secondary service cidr: the service cluster IP range must be at ' +
        'least 8 IP addresses',
    ],
    ['--etcd-compaction-interval=-5m', '--etcd-compaction-interval can not be negative value'],
    ['--event-ttl=-1s', '--event-ttl can not be negative value'],
    ['--livez-grace-period=-1s', '--livez-grace-period can not be a negative value'],
    [
      '--endpoint-reconciler-type=other',
      'Reconciler not implemented: other: --endpoint-reconciler-type is one of lease, master-count, none',
    ],
    [
      '--storage-media-type=text/plain',
      '--storage-media-type "text/plain" invalid, allowed values: application/json, ' +
        'application/vnd.kubernetes.protobuf, application/yaml',
    ],
    ['--admission-control=Foo', 'admission-control plugin "Foo" is unknown'],
    [
      '--admission-control=AlwaysAdmit --enable-admission-plugins=AlwaysDeny',
      'admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive',
    ],
  ]
  for (const [args, message] of cases)
    assert.throws(() => checkServingFlags(apiServerFlags(args.split(' '))), { message }, args)
  checkServingFlags(
    apiServerFlags(['--service-cluster-ip-range=10.0.0.0/29', '--event-ttl=0', '--etcd-compaction-interval=0']),
  )
})
