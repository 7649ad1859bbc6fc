//! The protocol's requests: capabilities, calls, cancellation, concurrency.

use std::{panic::AssertUnwindSafe, sync::Arc};

use ::http::request::Parts;
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    find_functions,
    handles::Handles,
    list_modules,
    refusal::Refusal,
    resources,
    shared::{McpOptions, McpState},
    understand,
};
use crate::{
    conversation::{self, Tokens},
    shares::{Owner, Shares},
    snapshot::Snapshots,
    text::{foreign, fuel::Presence},
    understand::{UnderstandOptions, Understander},
};

const INSTRUCTIONS: &str = "\
Uptake turns what a person says into validated function calls. `understand` gives the calls that an utterance means, or \
the question to ask; `find_functions` gives the few functions that fit a request; `list_modules` tells what can be \
understood. Nothing is carried out here: the calls are yours to make.";

/// Decides who may call, and how many calls run at once.
pub trait Admission: Send + Sync {
    /// Permission to run a call, held until dropped; `None` if too many are running. `from` is the HTTP request that
    /// brought the call, if there is one.
    fn admit<'a>(&'a self, from: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>>;

    /// The owner of the call's work.
    fn owner(&self, _: Option<&Parts>) -> Owner {
        Owner::Process
    }
}

/// A fixed number of calls for all callers together; further ones are refused at once.
impl Admission for Shares {
    fn admit<'a>(&'a self, _: Option<&'a Parts>) -> BoxFuture<'a, Option<Box<dyn Send + 'a>>> {
        let share = self.try_take(&Owner::Process, 1).map(|share| Box::new(share) as Box<dyn Send + 'a>);
        std::future::ready(share).boxed()
    }
}

/// The tools, ready to be served on any transport. Clones are cheap and share state.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<McpState>,
    tools: Arc<[Tool]>,
    admission: Arc<dyn Admission>,
}

impl McpServer {
    /// A call without permission is refused; an admission can be shared with other services that run turns.
    #[must_use]
    pub fn new(
        snapshots: Snapshots,
        understander: Understander,
        turns: UnderstandOptions,
        tokens: Tokens,
        options: McpOptions,
        admission: Arc<dyn Admission>,
    ) -> Self {
        let tools = Arc::new([
            find_functions::definition(&options, &turns),
            understand::definition(&options),
            list_modules::definition(),
        ]);
        let shared = McpState { snapshots, understander, turns, tokens, handles: Handles::new(), options };
        Self { shared: Arc::new(shared), tools, admission }
    }

    /// Loads every offered module, one after the other, so that no call has to wait for it. A failure is logged, and
    /// reported to calls for the module.
    pub async fn warm_up(&self) {
        for name in self.shared.options.offer.names(&self.shared.snapshots) {
            // The failure is logged where it happens, and reported to each call for the module.
            drop(self.shared.snapshots.fresh(&name).await);
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("uptake", env!("CARGO_PKG_VERSION"))
            .with_title("Uptake")
            .with_description(env!("CARGO_PKG_DESCRIPTION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, .. } = request;
        // The HTTP layers put the tenant among the request's extensions.
        let from = context.extensions.get::<Parts>();
        let kept_for = from.and_then(|from| from.extensions.get::<conversation::Tenant>()).cloned();
        let kept_for = kept_for.unwrap_or_else(conversation::Tenant::everybody);
        let owner = self.admission.owner(from);
        let call = match name.as_ref() {
            find_functions::NAME => find_functions::call(&self.shared, arguments, owner).boxed(),
            understand::NAME => understand::call(&self.shared, arguments, (&kept_for, owner)).boxed(),
            list_modules::NAME => list_modules::call(&self.shared, arguments).boxed(),
            unknown => {
                let shown = foreign::shown(unknown, 100);
                return Err(ErrorData::invalid_params(format!("Unknown tool: {shown}"), None));
            }
        };
        let admitted = async {
            let Some(_leave) = self.admission.admit(from).await else { return Err(Refusal::busy()) };
            AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| Err(Refusal::panicked()))
        };
        // The library runs this task, and does not notice until the end that the connection was closed.
        let waits = from.and_then(|from| from.extensions.get::<Presence>()).cloned();
        let admitted = match waits {
            Some(waits) => waits.waits_for(admitted).boxed(),
            None => admitted.boxed(),
        };
        let result = tokio::select! {
            result = admitted => result,
            // Dropping the call also drops everything that it waits for. This answer is not read.
            () = context.ct.cancelled() => Err(Refusal::new("the call was cancelled")),
        };
        Ok(result.unwrap_or_else(Into::into).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&self.shared)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.shared, &request.uri).await.map(Into::into)
    }
}
