/** The first view: the test and its error, requests that failed, and what the trace does not have. */
import type { TracedRequest } from '../../trace-data.ts'
import { failedOwners, waitingPods } from '../model/pod-waits.ts'
import { isComponent, messageOf } from '../model/request-filter.ts'
import { element, facts, hashOf, link } from './element.ts'
import { count, offsetText, type Trace } from './trace.ts'
import type { View } from './view.ts'

const maxErrors = 200

export function overview(trace: Trace): View {
  const { test, begin, end } = trace.data
  const range = `${new Date(begin).toISOString()}, for ${((end - begin) / 1000).toFixed(3)} s`
  return {
    root: element(
      'div',
      { class: 'page' },
      facts([
        ['File', test.file],
        ['Time', range],
      ]),
      test.error === undefined ? undefined : element('pre', { class: 'error' }, test.error),
      folded('Stack', test.stack),
      folded('Console', test.output),
      pods(trace),
      ...errors(trace),
      losses(trace),
    ),
  }
}

function folded(title: string, text: string | undefined): HTMLElement | undefined {
  if (!text) return undefined
  return element('details', {}, element('summary', {}, title), element('pre', {}, text))
}

function pods({ histories }: Trace): HTMLElement | undefined {
  const waiting = waitingPods(histories).filter(({ isWaiting }) => isWaiting)
  const owners = failedOwners(histories)
  if (waiting.length === 0 && owners.length === 0) return undefined
  const text = [
    ...(waiting.length > 0 ? [`${count(waiting.length, 'pod')} waiting at the end`] : []),
    ...(owners.length > 0 ? [`${count(owners.length, 'object')} that cannot create pods`] : []),
  ]
  return element('p', { class: 'notice' }, link('pods', text.join(', ')))
}

/** Those of the code under test come first. */
function errors(trace: Trace): HTMLElement[] {
  const failed = trace.data.requests.filter(({ code }) => code >= 400)
  const own = failed.filter((request) => !isComponent(request))
  const others = failed.filter(isComponent)
  return [
    element('h2', {}, `${count(own.length, 'request')} failed`),
    ...errorTable(trace, own),
    ...(others.length === 0
      ? []
      : [
          element(
            'details',
            {},
            element('summary', {}, `${count(others.length, 'failed request')} of controllers, scheduler and nodes`),
            ...errorTable(trace, others),
          ),
        ]),
  ]
}

function errorTable(trace: Trace, requests: readonly TracedRequest[]): HTMLElement[] {
  if (requests.length === 0) return []
  const rows = requests
    .slice(0, maxErrors)
    .map((request) =>
      element(
        'tr',
        {},
        element('td', {}, offsetText(trace, request.time)),
        element('td', {}, element('span', { class: statusClass(request.code) }, `${request.code}`)),
        element('td', {}, link(hashOf('requests', request.number), `${request.verb} ${request.path}`)),
        element('td', {}, messageOf(request)),
      ),
    )
  const more = requests.length - rows.length
  return [
    element('div', { class: 'wide' }, element('table', {}, element('tbody', {}, ...rows))),
    ...(more > 0 ? [element('p', {}, `${count(more, 'more error')}: the view of requests has all of them.`)] : []),
  ]
}

/** The class of a status, for its colour. */
export const statusClass = (code: number): string => `status s${Math.floor(code / 100)}`

function losses({ data: { losses: lost } }: Trace): HTMLElement | undefined {
  const parts = [
    ...(lost.requests > 0 ? [`The oldest ${count(lost.requests, 'request')} were dropped.`] : []),
    ...(lost.bodies > 0 ? [`The bodies of ${count(lost.bodies, 'old request')} were dropped.`] : []),
    ...(lost.versions > 0 ? [`The oldest ${count(lost.versions, 'version')} of objects were dropped.`] : []),
    ...(lost.objects > 0 ? [`${count(lost.objects, 'object')} that did not change were left out.`] : []),
    ...lost.notes,
  ]
  if (parts.length === 0) return undefined
  return element('p', { class: 'notice' }, `This trace is not complete. ${parts.join(' ')}`)
}
