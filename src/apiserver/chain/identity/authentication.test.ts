import assert from 'node:assert/strict'
import test from 'node:test'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import type { Verdict } from '../../authentication/authenticator.ts'
import type { Request } from '../../http/exchange.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import { filterDurations } from '../metrics/filter-metrics.ts'
import { authentication } from './authentication.ts'
import { authenticationMetrics } from './authentication-metrics.ts'

const user = (name: string): UserInfo => ({ name, groups: [] })
const soon = (verdict: Verdict): Promise<Verdict> => Promise.resolve(verdict)

test('the first user counts; without one, wrong credentials are rejected; all results are counted', async () => {
  const metrics = new MetricsRegistry()
  const count = authenticationMetrics(metrics, filterDurations(metrics).authentication)
  const resultOf = async (...verdicts: readonly (Verdict | Promise<Verdict>)[]): Promise<string> => {
    const request = {} as Request
    const filter = authentication(
      { authenticators: verdicts.map((verdict) => () => verdict), isIdentityHeader: undefined },
      count,
    )
    try {
      await filter(request, async () => ({ status: 200, headers: {} }))
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
    return request.user?.name ?? ''
  }
  const unauthorized = 'Unauthorized'
  const cases: readonly (readonly [readonly (Verdict | Promise<Verdict>)[], string])[] = [
    [[], 'system:anonymous'],
    [[undefined, user('admin')], 'admin'],
    [[soon(undefined), user('admin')], 'admin'],
    [['invalid', user('jane@example.com')], 'jane@example.com'],
    [[soon('invalid'), soon(user('joe'))], 'joe'],
    [['invalid', undefined], unauthorized],
    [[undefined, 'nobody'], unauthorized],
    [['invalid', 'nobody'], unauthorized],
    [[soon('invalid'), 'nobody'], unauthorized],
  ]
  for (const [verdicts, outcome] of cases) assert.equal(await resultOf(...verdicts), outcome)
  const lines = metrics
    .render()
    .split('\n')
    .filter((line) =>
      /^(authentication_attempts|authenticated_user_requests|authentication_duration_seconds_count)\{/.test(line),
    )
  assert.deepEqual(lines.sort(), [
    'authenticated_user_requests{username="admin"} 2',
    'authenticated_user_requests{username="email_id"} 1',
    'authenticated_user_requests{username="other"} 2',
    'authentication_attempts{result="error"} 3',
    'authentication_attempts{result="failure"} 1',
    'authentication_attempts{result="success"} 5',
    'authentication_duration_seconds_count{result="error"} 3',
    'authentication_duration_seconds_count{result="failure"} 1',
    'authentication_duration_seconds_count{result="success"} 5',
  ])
})
