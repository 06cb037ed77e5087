//! The words in the generated Pods.

pub(super) const APPS: &[&str] = &[
    "accounts", "basket", "billing", "catalog", "checkout", "delivery", "gateway", "identity",
    "invoices", "ledger", "mailer", "metrics", "orders", "payments", "profile", "search",
];

pub(super) const TEAMS: &[&str] = &[
    "atlas", "borealis", "cobalt", "dune", "ember", "fjord", "granite", "harbor",
];

/// At least twice the number of variables of a container.
pub(super) const VARIABLES: &[&str] = &[
    "API_ENDPOINT",
    "AUDIT_TOPIC",
    "BATCH_SIZE",
    "BROKER_ADDRESS",
    "CACHE_SIZE",
    "CACHE_URL",
    "CLIENT_ID",
    "CLIENT_SECRET_REF",
    "DATABASE_HOST",
    "DATABASE_NAME",
    "DATABASE_POOL",
    "DATABASE_USER",
    "FEATURE_FLAGS",
    "HTTP_TIMEOUT",
    "JAEGER_ENDPOINT",
    "LOG_FORMAT",
    "LOG_LEVEL",
    "MAX_CONNECTIONS",
    "METRICS_PREFIX",
    "OAUTH_ISSUER",
    "QUEUE_NAME",
    "RATE_LIMIT",
    "REGION",
    "RETRY_BUDGET",
    "S3_BUCKET",
    "SERVICE_NAME",
    "SESSION_KEY",
    "SMTP_RELAY",
    "TENANT",
    "TRACE_RATIO",
];
