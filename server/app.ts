import cors from '@koa/cors'
import { Router } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Logger } from 'pino'
import { errorResponses } from './http/errors.ts'
import { requestId, type Route, securityHeaders } from './http/route.ts'

export interface AppOptions {
  readonly routes: readonly Route[]
  readonly log: Logger
  /** Paths below which the routes are, `/` or without a slash at the end. Default: `/` alone. */
  readonly basePaths?: readonly string[]
  /** How many proxies stand in front of the server: so many entries of X-Forwarded-For are believed. */
  readonly trustedProxies?: number
  /** Counts a request before anything else is done for it. @throws ServiceError RATE_LIMITED */
  readonly admit?: (ctx: Context) => Promise<void>
  /**
   * Runs around everything else, and sees each answer as it leaves. For programs that embed the server, and for
   * mutants.
   */
  readonly middleware?: readonly Middleware[]
}

/** Headers of an answer that scripts of other pages may read. */
const exposeHeaders = ['X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']

/** How long a browser may go without another preflight, in seconds: as long as Chromium takes. By default it is 5. */
const PREFLIGHT_SECONDS = 7_200

/** Builds the Koa app. It does not listen. */
export function createApp(options: AppOptions): Koa {
  const { routes, log, basePaths = ['/'], trustedProxies = 0, admit, middleware = [] } = options
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies })
  // An error that reaches Koa comes from a broken connection more often than from a fault.
  app.on('error', (err: unknown) => log.warn({ err }, 'connection error'))
  app.use(requestId(log))
  // Wallets add headers of their own, so a preflight allows whatever headers it asks for.
  app.use(whenCrossOrigin(cors({ origin: '*', exposeHeaders, maxAge: PREFLIGHT_SECONDS })))
  app.use(setSecurityHeaders)
  app.use(collapseSlashes)
  for (const one of middleware) app.use(one)
  app.use(errorResponses(log))
  if (admit) app.use(countAllBut(routes, basePaths, admit))

  const router = new Router()
  const exact = new Map<string, Middleware>()
  for (const route of routes) {
    const { method, path, handle } = route
    const named: Middleware = (ctx, next) => {
      ctx.state.route = path
      return handle(ctx, next) as unknown
    }
    const paths = pathsOf(route, basePaths)
    router.register(paths, [method], named)
    if (!path.includes(':')) for (const one of paths) exact.set(`${method} ${one}`, named)
  }
  // Most requests name a path literally. A map finds it faster than the router, which tries every pattern.
  app.use((ctx, next) => (exact.get(`${ctx.method} ${ctx.path}`) ?? passOn)(ctx, next) as unknown)
  app.use(router.routes())
  app.use(router.allowedMethods())
  return app
}

/**
 * Clients join a base URL that ends in `/` with a path that starts with one. A target that is no URL (`http://`) becomes a
 * path that nobody has: to read it as a URL would throw, before the request is counted.
 */
const collapseSlashes: Middleware = (ctx, next) => {
  if (!ctx.url.startsWith('/') && !URL.canParse(ctx.url)) ctx.url = `/${ctx.url}`
  if (ctx.url.includes('//')) ctx.path = ctx.path.replace(/\/{2,}/g, '/')
  return next()
}

/** A route's path below each of the base paths. What is at `/relay/` is at `/relay`, too. */
const pathsOf = ({ path, isProbe }: Route, basePaths: readonly string[]): string[] => {
  const below = (base: string) => (base === '/' ? [path] : path === '/' ? [`${base}/`, base] : [`${base}${path}`])
  return [...new Set([...(isProbe ? ['/'] : []), ...basePaths].flatMap(below))]
}

/** Counts every request but these against the rate limit, also one for a path that does not exist. */
function countAllBut(
  routes: readonly Route[],
  basePaths: readonly string[],
  admit: (ctx: Context) => Promise<void>,
): Middleware {
  const uncounted = new Set(
    routes
      .filter(({ isUncounted }) => isUncounted)
      .flatMap((route) => pathsOf(route, basePaths).map((one) => `${route.method} ${one}`)),
  )
  return async (ctx, next) => {
    if (!uncounted.has(`${ctx.method} ${ctx.path}`)) await admit(ctx)
    return next() as unknown
  }
}

const passOn: Middleware = (_ctx, next) => next()

/** Adds the CORS headers only to requests with an `Origin`: only browsers send one, and only they need the headers. */
function whenCrossOrigin(allow: Middleware): Middleware {
  return (ctx, next) => (ctx.req.headers.origin === undefined ? passOn : allow)(ctx, next) as unknown
}

const setSecurityHeaders: Middleware = (ctx, next) => {
  for (const [name, value] of Object.entries(securityHeaders)) ctx.res.setHeader(name, value)
  return next()
}
