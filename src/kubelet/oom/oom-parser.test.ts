import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OomKill, OomParser } from './oom-parser.ts'

const killsIn = (...messages: string[]): OomKill[] => {
  const parser = new OomParser()
  return messages.flatMap((message) => parser.add(message) ?? [])
}

const invoked = 'badsysprogram invoked oom-killer: gfp_mask=0x201da, order=0, oom_score_adj=0'

test('a kill for the limit of a cgroup names the cgroup', () => {
  const line =
    'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c1,mems_allowed=0,' +
    'oom_memcg=/kubepods/burstable/pod1/c1,task_memcg=/kubepods/burstable/pod1/c1,task=stress,pid=13536,uid=0'
  const last = 'Memory cgroup out of memory: Killed process 13536 (stress) total-vm:205940kB'
  assert.deepEqual(killsIn(invoked, 'Mem-Info:', line, last), [
    { cgroup: '/kubepods/burstable/pod1/c1', process: 'stress', pid: 13_536 },
  ])
})

test('a kill for lack of memory in the machine is one of the root', () => {
  const line =
    'oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,' +
    'task_memcg=/,task=memhog,pid=4711,uid=0'
  const last = 'Out of memory: Killed process 4711 (memhog) total-vm:1460016kB, anon-rss:1414008kB'
  assert.deepEqual(killsIn('unrelated', invoked, line, last), [{ cgroup: '/', process: 'memhog', pid: 4711 }])
})

test('older kernels name the cgroup in a line of its own', () => {
  const line = 'Task in /mem2 killed as a result of limit of /mem3'
  assert.deepEqual(killsIn(invoked, line, 'Killed process 19667 (evilprogram2) total-vm:1460016kB'), [
    { cgroup: '/mem3', process: 'evilprogram2', pid: 19_667 },
  ])
})

test('a killed process alone is no lack of memory', () => {
  assert.deepEqual(killsIn('Killed process 1 (other)'), [])
})
